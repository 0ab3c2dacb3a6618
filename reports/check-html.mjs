// Opens a report in Chromium, light and dark, wide and narrow, and fails on what a reader must never meet: a message
// on the console, a request to anywhere, a violation that axe finds, a page wider than its window, or a chart without
// a name. Usage: node check-html.mjs MODULES REPORT.html… (MODULES holds playwright-core and axe-core)
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const [, , modules, ...reports] = process.argv;
if (!modules || reports.length === 0) {
  console.error('usage: node check-html.mjs MODULES REPORT.html...');
  process.exit(2);
}
const require = createRequire(resolve(modules, 'package.json'));
const { chromium } = require('playwright-core');
const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update',
    '--disable-sync', '--no-first-run'],
});
let faults = 0;
const fault = (where, what) => { faults += 1; console.error(`${where}: ${what}`); };

for (const report of reports) {
  const address = pathToFileURL(resolve(report)).href;
  for (const colorScheme of ['light', 'dark']) {
    for (const width of [1280, 640, 360]) {
      const where = `${report}, ${colorScheme}, ${width} px`;
      // axe is put in by the browser's own interface, past the policy that forbids the page any script.
      const context = await browser.newContext({
        colorScheme, viewport: { width, height: 900 }, reducedMotion: 'reduce', bypassCSP: true,
      });
      const page = await context.newPage();
      page.on('console', (message) => fault(where, `console: ${message.text()}`));
      page.on('pageerror', (error) => fault(where, `error: ${error.message}`));
      page.on('request', (request) => { if (request.url() !== address) fault(where, `request: ${request.url()}`); });
      await page.goto(address);
      const seen = await page.evaluate(() => ({
        scripts: document.scripts.length,
        wide: document.documentElement.scrollWidth > document.documentElement.clientWidth,
        nameless: [...document.querySelectorAll('svg[role=img]')].filter(
          (svg) => !svg.querySelector('title')?.textContent || !svg.querySelector('desc')?.textContent).length,
        loose: [...document.querySelectorAll('svg:not([role=img]):not([aria-hidden=true])')].length,
      }));
      if (seen.scripts) fault(where, `${seen.scripts} scripts`);
      if (seen.wide) fault(where, 'the page is wider than its window');
      if (seen.nameless) fault(where, `${seen.nameless} charts without title or description`);
      if (seen.loose) fault(where, `${seen.loose} charts that are neither pictures nor hidden`);
      // axe needs seconds for a large page; the width in between differs from the others in layout alone.
      if (width === 640) { await context.close(); continue; }
      await page.evaluate(() => document.querySelectorAll('details').forEach((details) => { details.open = true; }));
      await page.evaluate(axe);
      const result = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ['violations'] }));
      for (const { id, help, nodes } of result.violations) {
        fault(where, `axe ${id}: ${help} (${nodes.length}, first ${nodes[0].html.slice(0, 160)})`);
      }
      await context.close();
    }
  }
  // Without bypass: the policy itself must not be broken by the page, and the keyboard must reach the content.
  const page = await browser.newPage({ javaScriptEnabled: true });
  page.on('console', (message) => fault(report, `console: ${message.text()}`));
  page.on('request', (request) => { if (request.url() !== address) fault(report, `request: ${request.url()}`); });
  await page.goto(address);
  await page.keyboard.press('Tab');
  const first = await page.evaluate(() => document.activeElement?.className);
  if (first !== 'skip') fault(report, `the first stop of the keyboard is "${first}", not the skip link`);
  await page.close();
}
await browser.close();
if (faults) {
  console.error(`${faults} faults`);
  process.exit(1);
}
console.log(`${reports.length} reports: no console message, no request, no axe violation, in both schemes at 3 widths`);
