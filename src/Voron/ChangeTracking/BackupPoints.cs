using Voron.Format;

namespace Voron.ChangeTracking;

/// <summary>
/// The backups that later ones can build on, and those among them whose state the checkpoint has not reached: they become durable with the flush that
/// reaches it. Used under the lock of the change log.
/// </summary>
internal sealed class BackupPoints
{
    private readonly List<BackupPoint> _all = [];
    private readonly List<BackupPoint> _pending = [];

    /// <summary>Ensures that a point can be added without allocating memory.</summary>
    public void EnsureRoom()
    {
        _all.EnsureCapacity(_all.Count + 1);
        _pending.EnsureCapacity(_pending.Count + 1);
    }

    public void Add(in BackupPoint point, bool isDurable)
    {
        _all.Add(point);
        if (!isDurable)
            _pending.Add(point);
    }

    public BackupPoint? Find(RandomId backupId)
    {
        var index = _all.FindLastIndex(point => point.BackupId == backupId);
        return index < 0 ? null : _all[index];
    }

    public bool IsDurable(RandomId backupId) => Find(backupId) != null && !_pending.Exists(point => point.BackupId == backupId);

    /// <summary>Returns the points that are not durable, and whose state a checkpoint has reached.</summary>
    public BackupPoint[] Reached(long checkpoint) => [.. _pending.Where(point => point.TransactionId <= checkpoint)];

    /// <summary>Notes that these points are durable.</summary>
    public void NoteDurable(long checkpoint) => _pending.RemoveAll(point => point.TransactionId <= checkpoint);

    /// <summary>Removes points that the log no longer contains.</summary>
    public void Remove(IReadOnlyCollection<BackupPoint> points)
    {
        if (points.Count == 0)
            return;
        var ids = points.Select(point => point.BackupId).ToHashSet();
        _all.RemoveAll(point => ids.Contains(point.BackupId));
    }

    public void Clear()
    {
        _all.Clear();
        _pending.Clear();
    }
}
