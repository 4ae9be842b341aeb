using System.Text;
using Voron.Format;
using Voron.Simulation.Disks;

namespace Voron.Tests.Faults;

/// <summary>
/// Files of other programs under the engine's names give an <see cref="UnsupportedFormatException"/>, and damaged files of an environment a
/// <see cref="CorruptionException"/>. What a file begins with decides; in any case nothing is changed.
/// </summary>
public sealed class ForeignFileTests
{
    private const string Header = "voron.header";
    private const string Data = "voron.data";
    private const string Journal = "journal-00000001.voron";
    private const string NewJournal = "journal-00000002.voron.new";

    public static TheoryData<string> Contents =>
        ["nothing", "text", "short text", "zeros", "short zeros", "SQLite", "LMDB", "RocksDB", "zip", "noise", "one byte"];

    [Theory]
    [MemberData(nameof(Contents))]
    public void A_foreign_header_alone_is_refused_as_foreign(string content) =>
        Open(new() { [Header] = Make(content) }).Should().BeOfType<UnsupportedFormatException>().Which.Message.Should().Contain(Header);

    [Theory]
    [MemberData(nameof(Contents))]
    public void A_foreign_data_file_without_a_header_is_refused_as_foreign(string content) =>
        Open(new() { [Data] = Make(content) }).Should().BeOfType<UnsupportedFormatException>().Which.Message
            .Should().Contain(Data).And.Contain("Nothing was changed");

    [Theory]
    [MemberData(nameof(Contents))]
    public void A_foreign_journal_without_a_header_is_refused_as_foreign(string content)
    {
        Open(new() { [Journal] = Make(content) }).Should().BeOfType<UnsupportedFormatException>().Which.Message.Should().Contain(Journal);
        Open(new() { [NewJournal] = Make(content) }).Should().BeOfType<UnsupportedFormatException>().Which.Message.Should().Contain(NewJournal);
    }

    [Theory]
    [MemberData(nameof(Contents))]
    public void A_foreign_header_beside_files_of_an_environment_is_refused_as_foreign(string content)
    {
        var files = MakeFiles();
        files[Header] = Make(content);
        Open(files).Should().BeOfType<UnsupportedFormatException>().Which.Message.Should().Contain(Header);
    }

    [Theory]
    [MemberData(nameof(Contents))]
    public void A_foreign_journal_in_an_environment_is_foreign_unless_it_has_no_content(string content)
    {
        var files = MakeFiles();
        files[Journal] = Make(content);
        var exception = Open(files)!;
        if (content is "nothing" or "zeros" or "short zeros")
            exception.Should().BeOfType<CorruptionException>("the environment had a journal here").Which.Message.Should().Contain("damaged");
        else
            exception.Should().BeOfType<UnsupportedFormatException>().Which.Message.Should().Contain("move it elsewhere");
        exception.Message.Should().Contain(Journal);
    }

    [Theory]
    [MemberData(nameof(Contents))]
    public void Another_file_than_the_data_file_of_an_environment_is_damage(string content)
    {
        var files = MakeFiles();
        files[Data] = Make(content);
        var exception = Open(files, environment =>
        {
            FaultTestKit.Get(environment, 1);
            environment.Verify().Problems.Should().BeEmpty();
        });
        exception.Should().BeOfType<CorruptionException>("the header shows that there is an environment").Which.Message.Should().Contain(Data);
    }

    [Theory]
    [InlineData(Header)]
    [InlineData(Data)]
    [InlineData(Journal)]
    public void Parts_of_an_environment_without_their_header_are_damage(string kept)
    {
        var files = MakeFiles();
        var some = new SortedDictionary<string, byte[]>(StringComparer.Ordinal) { [kept] = files[kept] };
        if (kept == Header)
            some[Journal] = files[Journal];
        Open(some).Should().BeOfType<CorruptionException>();

        // Foreign files beside them change nothing.
        if (kept == Header)
            return;
        some[kept == Data ? Journal : Data] = Make("text");
        Open(some).Should().BeOfType<CorruptionException>().Which.Message.Should().Contain($"'{kept}'");
    }

    [Theory]
    [InlineData(8)]
    [InlineData(100)]
    [InlineData(4096)]
    [InlineData(8191)]
    public void A_header_that_was_cut_is_damage(int length)
    {
        var files = MakeFiles();
        files[Header] = files[Header][..length];
        Open(files).Should().BeOfType<CorruptionException>().Which.Message.Should().Contain(Header).And.Contain($"{length} bytes");
        Open(new() { [Header] = files[Header] }).Should().BeOfType<CorruptionException>();
    }

    [Theory]
    [InlineData(Header, 0)]
    [InlineData(Header, 1)]
    [InlineData(Journal, 0)]
    [InlineData(Journal, 1)]
    public void A_file_with_one_magic_number_left_is_not_foreign(string name, int kept)
    {
        var files = MakeFiles();
        var bytes = files[name];
        for (var copy = 0; copy < 2; copy++)
        {
            // A byte behind the magic number is changed in one copy, and all that is before the next block in the other.
            if (copy == kept)
                bytes[(copy * JournalFormat.Block) + 40] ^= 1;
            else
                bytes.AsSpan(copy * JournalFormat.Block, JournalFormat.Block).Fill(0x5A);
        }

        Open(files).Should().BeOfType<CorruptionException>().Which.Message.Should().Contain(name);
    }

    [Fact]
    public void A_journal_that_has_only_its_records_left_is_not_foreign()
    {
        var files = MakeFiles();
        files[Journal].AsSpan(0, JournalFormat.FirstRecordOffset).Fill(0x5A);
        Open(files).Should().BeOfType<CorruptionException>().Which.Message.Should().Contain(Journal);
    }

    [Fact]
    public void Files_of_other_programs_under_names_of_their_own_are_left_alone()
    {
        using var directory = new TemporaryDirectory();
        var names = new[] { "readme.txt", "journal-1.voron", "voron.data.bak", "data.mdb" };
        foreach (var name in names)
            File.WriteAllBytes(Path.Combine(directory.Path, name), Make("text"));
        using (var environment = StorageEnvironment.Open(directory.Path, FaultTestKit.Options()))
            FaultTestKit.Put(environment, 1, [1]);
        foreach (var name in names)
            File.ReadAllBytes(Path.Combine(directory.Path, name)).Should().Equal(Make("text"));
    }

    /// <summary>Opens the files for writing and for reading, and expects both to be refused in the same way, without a change.</summary>
    private static VoronException? Open(SortedDictionary<string, byte[]> files, Action<StorageEnvironment>? use = null)
    {
        VoronException? first = null;
        foreach (var isReadOnly in new[] { false, true })
        {
            var disk = FaultTestKit.DiskOf(files);
            disk.IsReadOnly = isReadOnly;
            VoronException? exception = null;
            try
            {
                using var environment = StorageEnvironment.Open(
                    disk, isReadOnly ? new StorageOptions { ReadOnly = true } : FaultTestKit.Options());
                use?.Invoke(environment);
            }
            catch (VoronException e)
            {
                exception = e;
            }

            exception.Should().NotBeNull();
            if (use == null)
                FaultTestKit.ShouldBeUnchanged(FaultTestKit.Bytes(disk), files);
            disk.HeldLocks.Should().Be(0);
            disk.OpenFiles.Should().Be(0);
            first ??= exception;
            exception.Should().BeOfType(first!.GetType());
        }

        return first;
    }

    private static byte[] Make(string content) => content switch
    {
        "nothing" => [],
        "one byte" => [0x56],
        "zeros" => new byte[1 << 20],
        "short zeros" => new byte[100],
        "short text" => "mine"u8.ToArray(),
        "noise" => FaultTestKit.Value(7, 1 << 20),
        "SQLite" => Repeat("SQLite format 3\0"u8),
        "LMDB" => Repeat([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0xDE, 0xC0, 0xEF, 0xBE, 1, 0, 0, 0]),
        "RocksDB" => Repeat([0x57, 0xFB, 0x80, 0x8B, 0x24, 0x75, 0x47, 0xDB]),
        "zip" => Repeat("PK\u0003\u0004"u8),
        _ => Repeat(Encoding.UTF8.GetBytes("This file belongs to another program.\n")),
    };

    private static byte[] Repeat(ReadOnlySpan<byte> text)
    {
        var bytes = new byte[1 << 20];
        for (var i = 0; i < bytes.Length; i++)
            bytes[i] = text[i % text.Length];
        return bytes;
    }

    private static SortedDictionary<string, byte[]> MakeFiles()
    {
        var disk = new SimulatedDisk();
        var options = new StorageOptions { BackgroundFlush = false, InitialJournalFileBytes = 512 << 10 };
        using var environment = StorageEnvironment.Open(disk, options);
        FaultTestKit.Put(environment, 1, FaultTestKit.Value(1, 300));
        environment.Flush();
        FaultTestKit.Put(environment, 2, FaultTestKit.Value(2, 300));
        environment.Internals.ConfirmDurability();
        return FaultTestKit.Bytes(disk);
    }
}
