namespace Voron.Primitives;

/// <summary>Work whose duration is measured: an index into the histograms of <see cref="EngineMeter"/>.</summary>
internal enum TimedWork
{
    Commit,
    WriterWait,
    Flush,
    Recovery,
}
