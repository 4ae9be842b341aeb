namespace Voron.Tool.Contents;

/// <summary>Writes a line for each entry, up to a number of them.</summary>
/// <param name="output">Receives the lines.</param>
/// <param name="stop">Ends the command.</param>
/// <param name="limit">The most lines; 0 for all.</param>
/// <param name="isReversed">Whether the last key comes first.</param>
internal sealed class EntryOutput(ToolOutput output, CancellationToken stop, long limit = 0, bool isReversed = false)
{
    private long _left = limit;

    public bool IsJson => output.Form == OutputForm.Json;

    public bool IsReversed => isReversed;

    /// <summary>Writes a line. Returns false when there must be no more of them.</summary>
    public bool Write(string line)
    {
        stop.ThrowIfCancellationRequested();
        output.WriteText(line);
        return --_left != 0;
    }
}
