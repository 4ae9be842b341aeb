using Voron.IO;

namespace Voron.Tests.IO;

[Quick]
public sealed unsafe class AddressSpaceTests
{
    [Fact]
    public void Memory_is_committed_in_place_as_zeros()
    {
        using var space = AddressSpace.Reserve(1 << 30);
        var address = (nint)space.Address;
        space.Committed.Should().Be(0);
        space.EnsureCommitted(5_000);
        new Span<byte>(space.Address, 5_000).ContainsAnyExcept((byte)0).Should().BeFalse();
        new Span<byte>(space.Address, 5_000).Fill(9);
        space.EnsureCommitted(64 << 20);
        ((nint)space.Address).Should().Be(address);
        space.Address[4_999].Should().Be(9);
        space.Address[(64 << 20) - 1].Should().Be(0);
        FluentActions.Invoking(() => space.EnsureCommitted((1u << 30) + 1)).Should().Throw<ArgumentOutOfRangeException>();
    }

    [Theory]
    [InlineData(0, 65_536)]
    [InlineData(100, 200)]
    [InlineData(4_000, 200)]
    [InlineData(100, 20_000)]
    public void A_reset_range_is_zeros_and_its_neighbours_stay(int offset, int length)
    {
        using var space = AddressSpace.Reserve(65_536);
        space.EnsureCommitted(65_536);
        var bytes = new Span<byte>(space.Address, 65_536);
        bytes.Fill(7);
        space.Reset((nuint)offset, (nuint)length);
        bytes[..offset].ContainsAnyExcept((byte)7).Should().BeFalse();
        bytes.Slice(offset, length).ContainsAnyExcept((byte)0).Should().BeFalse();
        bytes[(offset + length)..].ContainsAnyExcept((byte)7).Should().BeFalse();
        bytes.Fill(8);
    }

    [Fact]
    public void Disposing_twice_is_harmless_and_use_after_it_is_refused()
    {
        var space = AddressSpace.Reserve(1);
        space.Dispose();
        space.Dispose();
        FluentActions.Invoking(() => space.EnsureCommitted(1)).Should().Throw<ObjectDisposedException>();
    }

    [Fact]
    public void Too_many_addresses_are_an_ordinary_exception() =>
        FluentActions.Invoking(() => AddressSpace.Reserve(nuint.MaxValue / 4)).Should().Throw<InsufficientMemoryException>();
}
