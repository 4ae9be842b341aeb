namespace Voron.Torture.Crashes;

/// <content>Free space that is returned to the file system.</content>
internal sealed partial class CrashWorkload
{
    /// <summary>Makes large parts of the file free, and returns them to the file system.</summary>
    public bool Reclaims { get; init; }

    // Returns free space with and without readers of its old content, before and after it has become free in the data file.
    private void StepOfReclaiming()
    {
        switch (_random.Next(6))
        {
            case 0 or 1:
                _run.Report("commit of large values");
                Commit(writing => writing.ChangeBulk());
                break;
            case 2:
                _run.Report("commit that deletes large values");
                if (_random.Next(2) == 1)
                    _readers.Begin(_environment!, Newest);
                Commit(writing => writing.DeleteBulk());
                if (_random.Next(2) == 1)
                    Reclaim();
                break;
            case 3:
                _run.Report("flush");
                Flush();
                break;
            default:
                if (_random.Next(2) == 1)
                    _readers.EndAll();
                Reclaim();
                break;
        }
    }

    private void Reclaim()
    {
        _run.Report("reclaim");
        _counts.Reclaimed += _environment!.ReclaimSpace() > 0 ? 1 : 0;
        _readers.Check();
    }
}
