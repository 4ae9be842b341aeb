using System.Globalization;
using System.Runtime.CompilerServices;
using System.Text;

namespace Voron;

public sealed partial class StorageOptions
{
    private const UnixFileMode ReadAndWrite = UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.GroupRead | UnixFileMode.GroupWrite
        | UnixFileMode.OtherRead | UnixFileMode.OtherWrite;

    /// <summary>Four times the smallest journal file. An idle journal holds far less than this once everything has been flushed.</summary>
    private const long MinJournalLimit = 256 << 10;

    /// <summary>The maximum time that a thread can wait.</summary>
    private static readonly TimeSpan LongestInterval = TimeSpan.FromDays(24);

    private static readonly TimeSpan ShortestStatusInterval = TimeSpan.FromMilliseconds(10);

    private static readonly UTF8Encoding Utf8 = new(encoderShouldEmitUTF8Identifier: false, throwOnInvalidBytes: true);

    /// <summary>Checks all options together.</summary>
    /// <exception cref="ArgumentException">One or more options are out of range; the message names each of them.</exception>
    public void Validate() => Validate(null);

    /// <summary>Checks all options together.</summary>
    /// <param name="parameter">The parameter through which the caller passed the options; null for none.</param>
    /// <exception cref="ArgumentException">One or more options are out of range; the message names each of them.</exception>
    /// <param name="other">A fault of the options from which these were derived; null for none.</param>
    internal void Validate(string? parameter, string? other = null)
    {
        var faults = new Faults();
        faults.Check(other == null, $"{other}");
        CheckOpening(faults);
        CheckJournal(faults);
        CheckMemory(faults);
        CheckMaintenance(faults);
        faults.ThrowIfAny(parameter);
    }

    private void CheckOpening(Faults faults)
    {
        faults.Check(PageSize is null or 4096 or 8192 or 16384 or 32768 or 65536, $"{nameof(PageSize)} is {PageSize}; it must be 4096, 8192, 16384, 32768 or 65536.");
        faults.Check(
            (FileMode & OwnerOnly) == OwnerOnly && (FileMode & ~ReadAndWrite) == 0,
            $"{nameof(FileMode)} is {FileMode}; it must let the owner read and write, and must not make files executable.");
        faults.Check(OpenMode is OpenMode.OpenOrCreate or OpenMode.OpenExisting or OpenMode.CreateNew, $"{nameof(OpenMode)} is {(int)OpenMode}, which is not a valid setting.");
        faults.Check(!ReadOnly || OpenMode != OpenMode.CreateNew, $"{nameof(OpenMode)} is {OpenMode}, but {nameof(ReadOnly)} creates nothing.");
        faults.Check(
            LockTimeout == Timeout.InfiniteTimeSpan || (LockTimeout >= TimeSpan.Zero && LockTimeout <= LongestInterval),
            $"{nameof(LockTimeout)} is {LockTimeout}; it must not be negative, and must be at most {LongestInterval}, or infinite.");
        faults.Check(Name is null or { Length: > 0 }, $"{nameof(Name)} is empty; leave it unset to use the path.");
        for (var i = 0; i < Trees.Count; i++)
        {
            var length = LengthOfName(Trees[i]);
            faults.Check(
                length is > 0 and <= MaxTreeNameBytes,
                $"{nameof(Trees)} has a name with {(length < 0 ? "half of a surrogate pair" : $"{length} bytes in UTF-8")} at index {i}; it must have 1 to {MaxTreeNameBytes} bytes.");
        }
    }

    private void CheckJournal(Faults faults)
    {
        faults.Check(JournalCompression is JournalCompression.Auto or JournalCompression.Always or JournalCompression.Never, $"{nameof(JournalCompression)} is {(int)JournalCompression}, which is not a valid setting.");
        faults.Check(TornPageProtection is TornPageProtection.Checksums or TornPageProtection.FullPageImages, $"{nameof(TornPageProtection)} is {(int)TornPageProtection}, which is not a valid setting.");
        faults.Check(InitialJournalFileBytes >= 64 << 10, $"{nameof(InitialJournalFileBytes)} is {InitialJournalFileBytes}; it must be at least 65536.");
        faults.Check(MaxJournalFileBytes <= LargestJournalFile, $"{nameof(MaxJournalFileBytes)} is {MaxJournalFileBytes}; it must be at most {LargestJournalFile}.");
        faults.Check(MaxJournalFileBytes >= InitialJournalFileBytes, $"{nameof(MaxJournalFileBytes)} ({MaxJournalFileBytes}) is below {nameof(InitialJournalFileBytes)} ({InitialJournalFileBytes}).");
        faults.Check(FlushThresholdBytes > 0, $"{nameof(FlushThresholdBytes)} is {FlushThresholdBytes}; it must be positive.");
        faults.Check(Durability is Durability.Durable or Durability.Lazy, $"{nameof(Durability)} is {(int)Durability}, which is not a valid setting.");
        faults.Check(
            LazyInterval >= TimeSpan.FromMilliseconds(1) && LazyInterval <= LongestLazyInterval,
            $"{nameof(LazyInterval)} is {LazyInterval}; it must be 1 ms to {LongestLazyInterval}.");
        faults.Check(FlushInterval > TimeSpan.Zero, $"{nameof(FlushInterval)} is {FlushInterval}; it must be positive.");
        faults.Check(JournalLimitBytes >= MinJournalLimit, $"{nameof(JournalLimitBytes)} is {JournalLimitBytes}; it must be at least {MinJournalLimit}.");
        faults.Check(JournalLimitBytes >= FlushThresholdBytes, $"{nameof(JournalLimitBytes)} ({JournalLimitBytes}) is below {nameof(FlushThresholdBytes)} ({FlushThresholdBytes}).");
    }

    private void CheckMemory(Faults faults)
    {
        faults.Check(_memoryLimitBytes is not < MinMemoryLimit, $"{nameof(MemoryLimitBytes)} is {_memoryLimitBytes}; it must be at least {MinMemoryLimit}.");
        faults.Check(ScratchMemoryBytes >= MinScratchMemory, $"{nameof(ScratchMemoryBytes)} is {ScratchMemoryBytes}; it must be at least {MinScratchMemory}.");
        faults.Check(ScratchLimitBytes >= ScratchMemoryBytes, $"{nameof(ScratchLimitBytes)} ({ScratchLimitBytes}) is below {nameof(ScratchMemoryBytes)} ({ScratchMemoryBytes}).");
        faults.Check(KeyHeadCacheBytes is >= 0 and <= 1L << 40, $"{nameof(KeyHeadCacheBytes)} is {KeyHeadCacheBytes}; it must be between 0 and {1L << 40}.");
        faults.Check(MaxTransactionBytes >= MiB, $"{nameof(MaxTransactionBytes)} is {MaxTransactionBytes}; it must be at least {MiB}.");
        faults.Check(MaxQueuedOperations > 0, $"{nameof(MaxQueuedOperations)} is {MaxQueuedOperations}; it must be positive.");
        faults.Check(MaxGroupCommitBytes > 0, $"{nameof(MaxGroupCommitBytes)} is {MaxGroupCommitBytes}; it must be positive.");
        CheckSharesThatAreSet(faults);
    }

    // A limit that was not set is derived from the machine, and says nothing about the caller's intent.
    private void CheckSharesThatAreSet(Faults faults)
    {
        if (_memoryLimitBytes is not { } limit || limit < MinMemoryLimit)
            return;
        var (scratch, heads) = (_scratchMemoryBytes ?? 0, _keyHeadCacheBytes ?? 0);
        faults.Check(
            scratch <= limit && heads <= limit - scratch,
            $"{nameof(ScratchMemoryBytes)} and {nameof(KeyHeadCacheBytes)}, as far as they are set ({scratch} and {heads}), exceed {nameof(MemoryLimitBytes)} ({limit}).");
    }

    private void CheckMaintenance(Faults faults)
    {
        faults.Check(
            ScrubInterval == Timeout.InfiniteTimeSpan || (ScrubInterval > TimeSpan.Zero && ScrubInterval <= LongestInterval),
            $"{nameof(ScrubInterval)} is {ScrubInterval}; it must be positive and at most {LongestInterval}, or infinite.");
        faults.Check(
            StatusInterval == Timeout.InfiniteTimeSpan || StatusInterval == TimeSpan.Zero
                || (StatusInterval >= ShortestStatusInterval && StatusInterval <= LongestInterval),
            $"{nameof(StatusInterval)} is {StatusInterval}; it must be between {ShortestStatusInterval} and {LongestInterval}, or zero, or infinite.");
        faults.Check(SlowReaderInterval > TimeSpan.Zero, $"{nameof(SlowReaderInterval)} is {SlowReaderInterval}; it must be positive.");
        faults.Check(ScrubBytesPerSecond >= 0, $"{nameof(ScrubBytesPerSecond)} is {ScrubBytesPerSecond}; it must not be negative.");
        faults.Check(
            ChangeLogBytes is >= MiB and <= LargestJournalFile,
            $"{nameof(ChangeLogBytes)} is {ChangeLogBytes}; it must be between {MiB} and {LargestJournalFile}.");
        faults.Check(
            LargeValueBytes is >= 16 << 10 and <= MaxLargeValue,
            $"{nameof(LargeValueBytes)} is {LargeValueBytes}; it must be between 16384 and {MaxLargeValue}.");
        faults.Check(PreferredFreeFraction is > 0 and <= 1, $"{nameof(PreferredFreeFraction)} is {PreferredFreeFraction}; it must be above 0 and at most 1.");
        faults.Check(MaxGrowthBytes >= MiB, $"{nameof(MaxGrowthBytes)} is {MaxGrowthBytes}; it must be at least {MiB}.");
    }

    private static int LengthOfName(string name)
    {
        try
        {
            return Utf8.GetByteCount(name);
        }
        catch (EncoderFallbackException)
        {
            return -1;
        }
    }

    /// <summary>The faults found so far.</summary>
    private sealed class Faults
    {
        private List<string>? _texts;

        public void Check(bool isFine, [InterpolatedStringHandlerArgument(nameof(isFine))] ref FaultText fault)
        {
            if (!isFine)
                (_texts ??= []).Add(fault.ToStringAndClear());
        }

        public void ThrowIfAny(string? parameter)
        {
            if (_texts != null)
                throw new ArgumentException("The storage options are not valid: " + string.Join(" ", _texts), parameter);
        }
    }

    /// <summary>A message built only if there is a fault, so that opening an environment formats no unused messages.</summary>
    [InterpolatedStringHandler]
    private ref struct FaultText
    {
        private DefaultInterpolatedStringHandler _text;

        public FaultText(int literalLength, int formattedCount, bool isFine, out bool isNeeded)
        {
            isNeeded = !isFine;
            if (isNeeded)
                _text = new DefaultInterpolatedStringHandler(literalLength, formattedCount, CultureInfo.InvariantCulture);
        }

        public void AppendLiteral(string text) => _text.AppendLiteral(text);

        public void AppendFormatted<T>(T value) => _text.AppendFormatted(value);

        public string ToStringAndClear() => _text.ToStringAndClear();
    }
}
