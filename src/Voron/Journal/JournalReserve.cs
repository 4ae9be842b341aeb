namespace Voron.Journal;

/// <summary>The bytes that a record must leave free after it, for the records of the next flush.</summary>
/// <param name="ListBytes">The size of the flush list of the flush that frees space on a full disk.</param>
/// <param name="ImageBytes">
/// The size of the page images of a flush. The images may need far more space than commits write, so a file with too little space for them is
/// followed by one with space for twice as many.
/// </param>
internal readonly record struct JournalReserve(long ListBytes, long ImageBytes)
{
    /// <summary>The sum of both.</summary>
    public long Bytes => ListBytes + ImageBytes;
}
