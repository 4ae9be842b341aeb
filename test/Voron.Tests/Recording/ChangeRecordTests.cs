using Voron.Feeds;
using Voron.Recording;

namespace Voron.Tests.Recording;

/// <summary>A record of a change is read as it was written; other bytes are refused, or read as another record, and never beyond their end.</summary>
[Quick]
public sealed class ChangeRecordTests
{
    private static readonly int[] Lengths = [0, 1, 127, 128, 16_383, 16_384, 70_000];

    public static TheoryData<byte> AllFlags => new(Enumerable.Range(0, 32).Select(flags => (byte)flags));

    [Theory]
    [MemberData(nameof(AllFlags))]
    public void A_record_is_read_as_it_was_written(byte flags)
    {
        var random = new Random(flags);
        foreach (var operation in Enum.GetValues<RecordedOperation>().Where(operation => operation != RecordedOperation.None))
        {
            foreach (var source in new uint[] { 0, 1, 127, 128, 1 << 21, uint.MaxValue })
            {
                var (key, old, value) = (Bytes(random), Bytes(random), Bytes(random));
                var written = new ChangeRecord
                {
                    Operation = operation,
                    Flags = flags,
                    Time = (flags & ChangeRecord.HasTime) != 0 ? DateTime.MaxValue.Ticks - random.Next() : 0,
                    Source = source,
                    Key = key,
                    Old = (flags & ChangeRecord.HasOld) != 0 ? old : default,
                    New = (flags & ChangeRecord.HasNew) != 0 ? value : default,
                };
                var buffer = new byte[written.MaxBytes];
                var bytes = buffer.AsSpan(0, written.Write(buffer));
                ChangeRecord.TryRead(bytes, out var read).Should().BeTrue();
                (read.Operation, read.Flags, read.Time, read.Source).Should().Be((operation, flags, written.Time, source));
                read.Key.SequenceEqual(written.Key).Should().BeTrue();
                read.Old.SequenceEqual(written.Old).Should().BeTrue();
                read.New.SequenceEqual(written.New).Should().BeTrue();
            }
        }
    }

    [Theory]
    [MemberData(nameof(AllFlags))]
    public void Each_truncation_is_refused_or_has_a_shorter_value(byte flags)
    {
        var bytes = Sample(flags);
        for (var length = 0; length < bytes.Length; length++)
        {
            if (!ChangeRecord.TryRead(bytes.AsSpan(0, length), out var read))
                continue;
            (flags & ChangeRecord.HasNew).Should().NotBe(0, "only the last part has no length");
            read.New.Length.Should().BeLessThan(5);
        }
    }

    [Fact]
    public void What_cannot_be_a_record_is_refused()
    {
        var bytes = Sample(ChangeRecord.HasTime);
        Refused(bytes, changed => changed[0] = 0);
        Refused(bytes, changed => changed[0] = (byte)RecordedOperation.RemoveSource + 1);
        Refused(bytes, changed => changed[1] |= 32);
        Refused(bytes, changed => changed[9] = 0x80);
        Refused(bytes, changed => changed[9] = 0x7F);
        Refused([.. bytes, 0], static _ => { });
        Refused([1, 0, 0x80, 0x80, 0x80, 0x80, 0x80, 0, 0], static _ => { });
        Refused([1, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0x10, 0], static _ => { });
        Refused([1, 0, 1, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F], static _ => { });
        ChangeRecord.TryRead([1, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F, 0], out var largest).Should().BeTrue();
        largest.Source.Should().Be(uint.MaxValue);
    }

    [Fact]
    public void Random_bytes_cause_no_exception()
    {
        var random = new Random(TestSeed.Choose());
        var read = 0;
        for (var i = 0; i < 200_000; i++)
        {
            var bytes = Sample((byte)random.Next(32));
            for (var changes = random.Next(1, 4); changes > 0; changes--)
                bytes[random.Next(bytes.Length)] = (byte)random.Next(256);
            if (ChangeRecord.TryRead(bytes.AsSpan(0, random.Next(bytes.Length + 1)), out var record))
                read += record.Key.Length + record.New.Length >= 0 ? 1 : 0;
        }

        read.Should().BeInRange(2_000, 198_000, "both outcomes must be frequent");
    }

    [Fact]
    public void Keys_of_changes_are_in_the_order_of_the_changes()
    {
        (long Id, uint Ordinal)[] places = [(1, 0), (1, 1), (1, uint.MaxValue), (2, 0), (256, 0), (long.MaxValue, uint.MaxValue)];
        byte[]? last = null;
        foreach (var (id, ordinal) in places)
        {
            var key = ChangeRecord.WriteKey(id, ordinal, new byte[ChangeRecord.KeyBytes]).ToArray();
            ChangeRecord.TryReadKey(key, out var readId, out var readOrdinal).Should().BeTrue();
            (readId, readOrdinal).Should().Be((id, ordinal));
            (last == null || last.AsSpan().SequenceCompareTo(key) < 0).Should().BeTrue();
            last = key;
        }

        foreach (var wrong in new[] { [], new byte[11], new byte[13], new byte[12], [0xFF, .. new byte[11]] })
            ChangeRecord.TryReadKey(wrong, out _, out _).Should().BeFalse();
    }

    [Fact]
    public void Stored_numbers_are_fixed()
    {
        string.Join(' ', Enum.GetValues<RecordedOperation>().Select(operation => $"{(byte)operation}={operation}")).Should().Be(
            "0=None 1=Put 2=Insert 3=Update 4=Delete 5=DeleteRange 6=Drop 7=Rename 8=AddSource 9=RemoveSource");
        Enum.GetValues<ChangeOperation>().Select(operation => (int)operation).Should()
            .Equal(Enum.GetValues<RecordedOperation>().Select(operation => (int)operation));
        Enum.GetValues<RecordedContent>().Select(content => (int)content).Should().Equal(Enum.GetValues<RecordedParts>().Select(parts => (int)parts));
    }

    private static byte[] Bytes(Random random)
    {
        var bytes = new byte[Lengths[random.Next(Lengths.Length)]];
        random.NextBytes(bytes);
        return bytes;
    }

    private static byte[] Sample(byte flags)
    {
        var record = new ChangeRecord
        {
            Operation = RecordedOperation.Put,
            Flags = flags,
            Time = 1,
            Source = 300,
            Key = [1, 2, 3],
            Old = (flags & ChangeRecord.HasOld) != 0 ? [4, 5, 6, 7] : default,
            New = (flags & ChangeRecord.HasNew) != 0 ? [8, 9, 10, 11, 12] : default,
        };
        var buffer = new byte[record.MaxBytes];
        return buffer[..record.Write(buffer)];
    }

    private static void Refused(byte[] bytes, Action<byte[]> change)
    {
        var changed = bytes.ToArray();
        change(changed);
        ChangeRecord.TryRead(changed, out _).Should().BeFalse();
    }
}
