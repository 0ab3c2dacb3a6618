//! Rows into the columns of a Parquet file, for every table that is written.
//!
//! A table is its schema, its rows and one call a column in schema order. Memory of readers and writer is bounded by the
//! size of a group of rows. What the columns mean is their table's to say.

use std::fs::File;
use std::sync::Arc;

use parquet::basic::Compression;
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;

/// Rows of one group.
const GROUP: usize = 100_000;

/// Writes a whole file; `columns` writes those of one group of rows, in the order of the schema.
///
/// # Errors
/// A file that cannot be written, or columns that are not those of the schema.
pub(crate) fn write_groups<R>(
    out: File,
    schema: &str,
    notes: Vec<KeyValue>,
    rows: &[R],
    columns: impl Fn(&mut Group<'_, '_, R>) -> Result<(), ParquetError>,
) -> Result<(), ParquetError> {
    let schema = Arc::new(parse_message_type(schema)?);
    let properties =
        WriterProperties::builder().set_compression(Compression::SNAPPY).set_key_value_metadata(Some(notes)).build();
    let mut writer = SerializedFileWriter::new(out, schema, Arc::new(properties))?;
    for rows in rows.chunks(GROUP) {
        let mut group = Group { writer: writer.next_row_group()?, rows };
        columns(&mut group)?;
        group.writer.close()?;
    }
    writer.close()?;
    Ok(())
}

/// Rows on their way into one group of the file; each method writes the next column.
pub(crate) struct Group<'a, 'w, R> {
    writer: SerializedRowGroupWriter<'w, File>,
    rows: &'a [R],
}

impl<'a, R> Group<'a, '_, R> {
    /// A text for every row.
    pub(crate) fn text(&mut self, of: impl Fn(&'a R) -> &'a str) -> Result<(), ParquetError> {
        let values: Vec<ByteArray> = self.rows.iter().map(|row| ByteArray::from(of(row))).collect();
        self.column::<ByteArrayType>(&values, None)
    }

    /// A small number for every row.
    pub(crate) fn int(&mut self, of: impl Fn(&R) -> i32) -> Result<(), ParquetError> {
        let values: Vec<i32> = self.rows.iter().map(of).collect();
        self.column::<Int32Type>(&values, None)
    }

    /// A count for every row.
    pub(crate) fn long(&mut self, of: impl Fn(&R) -> u64) -> Result<(), ParquetError> {
        let values: Vec<i64> = self.rows.iter().map(|row| signed(of(row))).collect();
        self.column::<Int64Type>(&values, None)
    }

    /// A truth for every row.
    pub(crate) fn flag(&mut self, of: impl Fn(&R) -> bool) -> Result<(), ParquetError> {
        let values: Vec<bool> = self.rows.iter().map(of).collect();
        self.column::<BoolType>(&values, None)
    }

    /// Counts where there are any, null elsewhere.
    pub(crate) fn maybe(&mut self, of: impl Fn(&R) -> Option<u64>) -> Result<(), ParquetError> {
        self.optional::<Int64Type>(|row| of(row).map(signed))
    }

    /// Fractions where there are any, null elsewhere.
    pub(crate) fn maybe_double(&mut self, of: impl Fn(&R) -> Option<f64>) -> Result<(), ParquetError> {
        self.optional::<DoubleType>(of)
    }

    /// Truths where there are any, null elsewhere.
    pub(crate) fn maybe_flag(&mut self, of: impl Fn(&R) -> Option<bool>) -> Result<(), ParquetError> {
        self.optional::<BoolType>(of)
    }

    /// A column with nulls: values where there are any, and for every row whether it has one.
    fn optional<T: DataType>(&mut self, of: impl Fn(&R) -> Option<T::T>) -> Result<(), ParquetError> {
        let all: Vec<Option<T::T>> = self.rows.iter().map(of).collect();
        let present: Vec<i16> = all.iter().map(|value| i16::from(value.is_some())).collect();
        let values: Vec<T::T> = all.into_iter().flatten().collect();
        self.column::<T>(&values, Some(&present))
    }

    fn column<T: DataType>(&mut self, values: &[T::T], present: Option<&[i16]>) -> Result<(), ParquetError> {
        let missing = || ParquetError::General("more columns than the schema has".to_owned());
        let mut column = self.writer.next_column()?.ok_or_else(missing)?;
        column.typed::<T>().write_batch(values, present, None)?;
        column.close()
    }
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
