using Voron.IO;
using Voron.Simulation.Memory;

namespace Voron.Tests.IO;

public sealed unsafe class AddressReservationTests
{
    private static readonly nuint Page = AddressReservation.PageLength;

    [Fact]
    public void Parts_are_whole_pages_that_do_not_overlap()
    {
        using var reservation = AddressReservation.TryReserve(64 * Page)!;
        using var first = AddressSpace.Reserve(1, reservation);
        using var second = AddressSpace.Reserve(3 * Page + 1, reservation);
        using var third = AddressSpace.Reserve(Page, reservation);
        AddressSpace[] parts = [first, second, third];
        parts.Select(part => part.Length / Page).Should().Equal(1u, 4u, 1u);
        parts.Select(part => (nuint)part.Address % Page).Should().AllBeEquivalentTo((nuint)0);
        for (var i = 1; i < parts.Length; i++)
            ((nuint)parts[i].Address).Should().Be((nuint)parts[i - 1].Address + parts[i - 1].Length + AddressReservation.Edge);
        foreach (var part in parts)
        {
            part.EnsureCommitted(part.Length);
            new Span<byte>(part.Address, (int)part.Length).ContainsAnyExcept((byte)0).Should().BeFalse();
            new Span<byte>(part.Address, (int)part.Length).Fill(7);
        }
    }

    [Fact]
    public void What_does_not_fit_gets_addresses_of_its_own()
    {
        using var reservation = AddressReservation.TryReserve(8 * Page + AddressReservation.Margin(2))!;
        using var first = AddressSpace.Reserve(6 * Page, reservation);
        var free = reservation.Free;
        using var second = AddressSpace.Reserve(16 * Page, reservation);
        reservation.Free.Should().Be(free);
        second.EnsureCommitted(16 * Page);
        new Span<byte>(second.Address, (int)(16 * Page)).Fill(1);
        using var third = AddressSpace.Reserve(2 * Page, reservation);
        reservation.Free.Should().BeLessThan(free);
    }

    [Fact]
    public void The_first_bytes_have_memory_and_are_committed_no_second_time()
    {
        using var reservation = AddressReservation.TryReserve(64 * Page)!;
        reservation.CommitFirst(16 * Page);
        using var whole = AddressSpace.Reserve(4 * Page, reservation);
        using var cut = AddressSpace.Reserve(32 * Page, reservation);
        using var behind = AddressSpace.Reserve(Page, reservation);
        whole.Committed.Should().Be(whole.Length);
        cut.Committed.Should().BeInRange(Page, cut.Length - Page);
        behind.Committed.Should().Be(0);
        new Span<byte>(whole.Address, (int)whole.Length).Fill(1);
        new Span<byte>(cut.Address, (int)cut.Committed).Fill(2);
        cut.EnsureCommitted(cut.Length);
        cut.Address[0].Should().Be(2);
        cut.Address[cut.Length - 1].Should().Be(0);
    }

    [Fact]
    public void Memory_that_is_refused_is_an_ordinary_exception()
    {
        using var reservation = AddressReservation.TryReserve(64 * Page)!;
        using (new WatchedThread(new AddressLimit(0)))
        {
            AddressReservation.TryReserve(Page).Should().BeNull();
            FluentActions.Invoking(() => reservation.CommitFirst(Page)).Should().Throw<InsufficientMemoryException>();
        }

        using var part = AddressSpace.Reserve(Page, reservation);
        part.Committed.Should().Be(0);
    }

    /// <summary>An owner that ends before the others takes nothing from them, in whatever order they end.</summary>
    [Theory]
    [InlineData(0, 1, 2, 3)]
    [InlineData(3, 2, 1, 0)]
    [InlineData(1, 3, 0, 2)]
    [InlineData(2, 0, 3, 1)]
    public void Parts_keep_their_memory_until_they_end(params int[] order)
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "/proc/self/maps exists only on Linux");
        var reservation = AddressReservation.TryReserve(64 * Page)!;
        var parts = Enumerable.Range(0, 3).Select(_ => AddressSpace.Reserve(2 * Page, reservation)).ToArray();
        var addresses = parts.Select(part => (nint)part.Address).ToArray();
        foreach (var part in parts)
        {
            part.EnsureCommitted(part.Length);
            new Span<byte>(part.Address, (int)part.Length).Fill(7);
        }

        var live = new HashSet<int> { 0, 1, 2 };
        foreach (var ending in order)
        {
            (ending == 3 ? (IDisposable)reservation : parts[ending]).Dispose();
            live.Remove(ending);
            foreach (var part in live)
                new ReadOnlySpan<byte>(parts[part].Address, (int)parts[part].Length).ContainsAnyExcept((byte)7).Should().BeFalse();

            // The guard of the tests holds ended reservations back without access.
            for (var part = 0; part < parts.Length; part++)
                MemoryMaps.CanTouch(addresses[part]).Should().Be(live.Contains(part), $"part {part}, after the end of {ending}");
        }

        AddressSpace.Reserve(Page, reservation).Dispose();
        (reservation.TryTake(Page) == null).Should().BeTrue();
    }

    [Fact]
    public void No_thread_can_touch_what_lies_between_two_parts()
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "/proc/self/maps exists only on Linux");
        using var reservation = AddressReservation.TryReserve(64 * Page)!;
        reservation.CommitFirst(32 * Page);
        using var first = AddressSpace.Reserve(Page, reservation);
        using var second = AddressSpace.Reserve(Page, reservation);
        MemoryMaps.CanTouch((nint)first.Address - 1).Should().BeFalse();
        MemoryMaps.CanTouch((nint)first.Address).Should().BeTrue();
        MemoryMaps.CanTouch((nint)(first.Address + first.Length)).Should().BeFalse();
        MemoryMaps.CanTouch((nint)second.Address).Should().BeTrue();
        MemoryMaps.CanTouch((nint)(second.Address + second.Length)).Should().BeFalse();
    }
}
