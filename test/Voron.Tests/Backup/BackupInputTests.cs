using Voron.Backup;

namespace Voron.Tests.Backup;

/// <summary>Backups are read past the page cache, and through it where that is refused.</summary>
public sealed class BackupInputTests
{
    /// <summary>More than two pieces, and no multiple of a block.</summary>
    private const int Length = (2 << 20) + 12_345;

    [Theory]
    [InlineData(0)]
    [InlineData(4096)]
    [InlineData(100)]
    public async Task Files_are_read_from_any_offset_to_their_end(int offset)
    {
        using var directory = new TestDirectory();
        var path = Path.Combine(directory.Path, "file");
        var bytes = new byte[Length];
        new Random(1).NextBytes(bytes);
        await File.WriteAllBytesAsync(path, bytes, TestContext.Current.CancellationToken);
        var source = BackupSource.OfFile(path);
        var stream = source.Open();
        stream.Position = offset;

        var input = new BackupInput(source, stream) { ReadsAhead = true };
        await using (input)
        {
            var read = new List<byte>();
            while (await input.TryFillAsync(1, TestContext.Current.CancellationToken))
                Take(input, read);
            read.ToArray().AsSpan().SequenceEqual(bytes.AsSpan(offset)).Should().BeTrue();
        }
    }

    private static unsafe void Take(BackupInput input, List<byte> read)
    {
        read.AddRange(new ReadOnlySpan<byte>(input.Address, input.Available));
        input.Skip(input.Available);
    }
}
