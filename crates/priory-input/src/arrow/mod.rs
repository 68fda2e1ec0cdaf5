//! Parquet, Arrow IPC and rows in memory, and predictions as Parquet. What is read comes as Arrow's arrays, which `columns.rs` turns into the columns of a batch.

use arrow_schema::DataType;

use priory::infer::Stored;

mod columns;
mod ipc;
mod memory;
mod parquet;
mod predictions;
mod row;
mod text;

pub(crate) use arrow_array::RecordBatch;
pub(crate) use columns::ArrowParser;
pub(crate) use ipc::ArrowStream;
pub(crate) use memory::ArrowRows;
pub use memory::RecordBatches;
pub(crate) use parquet::{ParquetFile, ParquetParser, RowSlice};
pub use predictions::{PredictedRows, PredictionColumns, PredictionFile, PredictionStream};
pub use row::{RowReader, RowValue, WholeNumbers};

/// How a column of this type is stored, or what it holds that cannot be read.
fn stored(data_type: &DataType) -> std::result::Result<Stored, &'static str> {
    use DataType as T;
    match data_type {
        T::Null | T::Utf8 | T::LargeUtf8 | T::Utf8View => Ok(Stored::Text),
        T::Binary | T::LargeBinary | T::BinaryView | T::FixedSizeBinary(_) => Ok(Stored::Text),
        T::Boolean => Ok(Stored::Boolean),
        T::Int8 | T::Int16 | T::Int32 | T::Int64 => Ok(Stored::Integer),
        T::UInt8 | T::UInt16 | T::UInt32 | T::UInt64 => Ok(Stored::Integer),
        T::Float16 | T::Float32 | T::Float64 => Ok(Stored::Number),
        T::Decimal32(..) | T::Decimal64(..) | T::Decimal128(..) | T::Decimal256(..) => Ok(Stored::Number),
        T::Date32 | T::Date64 | T::Timestamp(..) => Ok(Stored::Date),
        T::Time32(_) | T::Time64(_) | T::Duration(_) => Ok(Stored::Number),
        T::Dictionary(_, values) => stored(values),
        T::List(_) | T::LargeList(_) | T::ListView(_) | T::LargeListView(_) => Err("lists"),
        T::FixedSizeList(..) => Err("lists"),
        T::Struct(_) => Err("structures"),
        T::Map(..) => Err("maps"),
        T::Interval(_) => Err("intervals"),
        _ => Err("nested values"),
    }
}

#[cfg(test)]
mod tests;
