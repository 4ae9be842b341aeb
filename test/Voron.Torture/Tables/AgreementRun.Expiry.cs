using Voron.Tables;
using Voron.Torture.Model;

namespace Voron.Torture.Tables;

/// <content>Rows that expire: time passes between transactions, and beside open ones.</content>
internal sealed partial class AgreementRun<TKey>
{
    private void StepInTime()
    {
        Settle();
        if (_random.Next(5) == 4)
            PassTime();
        if (_random.Next(16) == 15)
            DeleteExpired();
    }

    // A transaction that is open keeps its time.
    private void PassTime()
    {
        var time = _random.Next(1, _random.Next(4) == 3 ? 12_000 : 1_500);
        _clock.Advance(TimeSpan.FromMilliseconds(time));
        _run.Report($"{time} ms pass: {_clock.Milliseconds}");
        Settle();
    }

    private void Settle()
    {
        if (!_expires)
            return;
        _content = _content.At(Expiry, _clock.Milliseconds);
        _secondContent = _secondContent.At(Expiry, _clock.Milliseconds);
    }

    private void DeleteExpired()
    {
        Delete(_setting, _content);
        Delete(_second, _secondContent);

        void Delete(TableSetting<TKey> setting, TableContent content)
        {
            bool isThere;
            using (var reading = _environment.BeginRead())
                isThere = reading.TryOpenTable(setting.Definition, out _);
            if (!isThere)
                return;
            setting.Add("delete the expired rows");
            var deleted = _environment.DeleteExpiredAsync(setting.Definition).AsTask().GetAwaiter().GetResult();
            _run.Tally("expired rows", deleted);
            using var after = _environment.BeginRead();
            if (after.OpenTable(setting.Definition).Count != content.Count)
                throw new ModelMismatchException($"the table has {after.OpenTable(setting.Definition).Count} rows instead of {content.Count}");
            content.CheckCount(content.Count);
        }
    }

    private StorageOptions DrawOptions() => new()
    {
        PageSize = _random.Next(4) switch { 3 => 65536, 2 => 8192, _ => 4096 },
        BackgroundFlush = false,
        InitialJournalFileBytes = 64 << 10,
        MaxJournalFileBytes = 1 << 20,
        LargeValueBytes = _random.Next(2) == 0 ? 16 << 10 : 64 << 10,
        JournalCompression = (JournalCompression)_random.Next(3),
        TornPageProtection = (TornPageProtection)_random.Next(2),
        KeyHeadCacheBytes = _random.Next(2) == 0 ? 0 : 1 << 20,
        ScratchMemoryBytes = 16 << 20,
        MaxGrowthBytes = 1 << 20,
        VerifyEveryRead = _random.Next(4) == 3,
        TimeProvider = _clock,
    };
}
