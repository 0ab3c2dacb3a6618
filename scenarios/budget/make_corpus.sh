# Fifty memories of about 4 KB on one subject, one a session, with characters of four bytes.
awk 'BEGIN {
    for (n = 0; n < 50; n++) {
        text = ""
        for (i = 0; i < 40; i++) text = text "Station " i " of glacier survey " n " is calibrated against pillar " (i * 7 + n) " of ridge" n "  \360\237\247\212\360\237\233\260 at dawn.\\n"
        printf "{\"doc_id\":\"m_%012x\",\"session_id\":\"s_%012x\",\"period_id\":\"p\",\"project\":\"survey\",\"type\":\"outcome\",", n, n
        printf "\"timestamp\":\"2026-02-%02dT10:%02d:00Z\",\"request\":\"Calibrate glacier survey ridge%d\",\"result\":\"%s\",", n % 28 + 1, n, n, text
        printf "\"decisions\":[\"Survey %d is calibrated against the northern pillar \360\237\247\212, because the southern one moves with the glacier\"],", n
        printf "\"affected_paths\":[\"survey/calibrate_%d.py\"],\"branch\":\"main\",\"revision\":\"80a77216f846\"}\n", n
    }
}'
