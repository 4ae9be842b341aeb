using Voron.IO;

namespace Voron.Tests.IO;

[Quick]
public sealed unsafe class MemoryDiskTests : DiskContract
{
    private readonly MemoryDisk _disk = new();

    private protected override IDisk Disk => _disk;

    public override void Dispose()
    {
        _disk.Dispose();
        base.Dispose();
    }

    [Fact]
    public void An_outgrown_map_cannot_be_extended_but_still_shows_writes_and_holes()
    {
        using var disk = new MemoryDisk(reservation: 64 * 1024);
        using var file = disk.Open("a", DiskOpen.New, DiskAccess.Buffered);
        file.Write(0, Bytes(64 * 1024, 1));
        using var old = file.Map(64 * 1024);
        file.Write(64 * 1024, Bytes(1 << 20, 2));

        old.TryExtend(1 << 20).Should().BeFalse();
        using var map = file.Map(file.Length);
        new ReadOnlySpan<byte>(map.Address, 64 * 1024).SequenceEqual(Bytes(64 * 1024, 1)).Should().BeTrue();

        file.Write(60_000, Bytes(10_000, 3));
        new ReadOnlySpan<byte>(old.Address + 60_000, 64 * 1024 - 60_000).SequenceEqual(Bytes(10_000, 3).AsSpan(0, 5_536)).Should().BeTrue();
        new ReadOnlySpan<byte>(map.Address + 60_000, 10_000).SequenceEqual(Bytes(10_000, 3)).Should().BeTrue();

        file.TryPunchHole(0, 8_192).Should().BeTrue();
        new ReadOnlySpan<byte>(old.Address, 8_192).ContainsAnyExcept((byte)0).Should().BeFalse();
        old.Dispose();
        ReadAll(file, 60_000, 10_000).Should().Equal(Bytes(10_000, 3));
    }
}
