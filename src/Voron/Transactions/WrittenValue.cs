namespace Voron.Transactions;

/// <summary>A value whose bytes have been written to an extent of the data file.</summary>
/// <param name="FirstPage">The first page of the extent.</param>
/// <param name="Pages">The number of pages of the extent.</param>
/// <param name="Length">The length of the value in bytes.</param>
/// <param name="IsDurable">True if the bytes are durable.</param>
internal readonly record struct WrittenValue(long FirstPage, long Pages, long Length, bool IsDurable);
