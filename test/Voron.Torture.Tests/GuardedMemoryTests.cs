using Voron.IO;
using Voron.Simulation.Harness;
using Voron.Simulation.Memory;
using Voron.Torture.Suites;

namespace Voron.Torture.Tests;

/// <summary>
/// The allocator of the tests finds the faults that it is made for, and the suites find nothing with freed memory out of reach.
/// </summary>
public sealed unsafe class GuardedMemoryTests
{
    private const long Seed = 20261122;

    private readonly List<string> _findings = [];
    private readonly IMemoryGuard _memory;

    public GuardedMemoryTests() => _memory = new GuardedMemory(finding => _findings.Add(finding.Split('\n')[0]));

    [Theory]
    [InlineData(100, 0)]
    [InlineData(4096, 4096)]
    [InlineData(300_000, 64)]
    public void Blocks_that_are_used_rightly_are_no_finding(int bytes, int alignment)
    {
        var block = (byte*)_memory.Allocate((nuint)bytes, (nuint)alignment, isZeroed: false);
        if (alignment > 0)
            ((nint)block % alignment).Should().Be(0);
        new Span<byte>(block, bytes).Clear();
        _memory.Free(block, alignment > 0);
        ((GuardedMemory)_memory).Sweep();
        _findings.Should().BeEmpty();
    }

    [Fact]
    public void Fresh_memory_is_zeros_only_where_zeros_were_asked_for()
    {
        new ReadOnlySpan<byte>(_memory.Allocate(500, 0, isZeroed: true), 500).IndexOfAnyExcept((byte)0).Should().Be(-1);
        new ReadOnlySpan<byte>(_memory.Allocate(500, 0, isZeroed: false), 500).IndexOf((byte)0).Should().Be(-1);
    }

    [Theory]
    [InlineData(-1)]
    [InlineData(100)]
    [InlineData(140)]
    public void A_byte_written_beside_a_block_is_found(int at)
    {
        var block = (byte*)_memory.Allocate(100, 0, isZeroed: false);
        block[at] = 1;
        ((GuardedMemory)_memory).Sweep();
        _findings.Should().ContainSingle().Which.Should().Contain(at < 0 ? "1 before the beginning" : $"{at - 99} behind the end");
        _findings.Clear();
        _memory.Free(block, isAligned: false);
        _findings.Should().ContainSingle();
    }

    [Fact]
    public void A_byte_written_to_a_freed_block_is_found()
    {
        var block = (byte*)_memory.Allocate(100, 0, isZeroed: false);
        _memory.Free(block, isAligned: false);
        block[50].Should().Be(0xDD);
        block[50] = 0;
        ((GuardedMemory)_memory).Sweep();
        _findings.Should().ContainSingle().Which.Should().Contain("written to after it was freed, at byte 50");
    }

    [Fact]
    public void A_byte_written_to_a_freed_block_is_found_when_the_block_is_released()
    {
        var block = (byte*)_memory.Allocate(100, 0, isZeroed: false);
        _memory.Free(block, isAligned: false);
        block[50] = 0;
        for (var i = 0; i < 10_000; i++)
            _memory.Free(_memory.Allocate(10, 0, isZeroed: false), isAligned: false);
        _findings.Should().ContainSingle().Which.Should().Contain("written to after it was freed, at byte 50");
    }

    [Fact]
    public void A_block_that_is_freed_twice_or_wrongly_or_never_was_one_is_found()
    {
        var block = _memory.Allocate(100, 64, isZeroed: false);
        _memory.Free(block, isAligned: false);
        _memory.Free(block, isAligned: true);
        _memory.Free((byte*)block + 1, isAligned: true);
        _findings.Should().HaveCount(3);
        _findings[0].Should().Contain("not aligned");
        _findings[1].Should().Contain("freed already");
        _findings[2].Should().Contain("none");
    }

    [Fact]
    public void A_block_that_is_resized_moves_with_its_content()
    {
        var block = (byte*)_memory.Resize(null, 10);
        new Span<byte>(block, 10).Fill(7);
        var larger = (byte*)_memory.Resize(block, 1000);
        ((nint)larger).Should().NotBe((nint)block);
        new ReadOnlySpan<byte>(larger, 10).IndexOfAnyExcept((byte)7).Should().Be(-1);
        block[0].Should().Be(0xDD);
        _findings.Should().BeEmpty();
    }

    [Theory]
    [InlineData(4096)]
    [InlineData(1 << 20)]
    public void A_byte_written_to_memory_that_is_kept_for_later_is_found(int bytes)
    {
        var block = (byte*)_memory.Allocate((nuint)bytes, 4096, isZeroed: false);
        *(nint*)block = 77;
        _memory.Retire(block, (nuint)bytes, 8);
        _memory.ReadRetired((nint*)block).Should().Be(77);
        _memory.Revive(block, (nuint)bytes, 8);
        _findings.Should().BeEmpty();
        _memory.Retire(block, (nuint)bytes, 8);
        block[bytes - 1] = 0;
        _memory.Revive(block, (nuint)bytes, 8);
        _findings.Should().ContainSingle().Which.Should().Contain($"at byte {bytes - 1}");
    }

    /// <summary>
    /// Runs each suite in a process of its own, which a read of freed memory would end. That takes minutes, so it is left to the runs of all
    /// cases.
    /// </summary>
    [Theory]
    [InlineData("power-cut", 1_000)]
    [InlineData("io-fault", 300)]
    [InlineData("memory-fault", 200)]
    [InlineData("model", 60_000)]
    [InlineData("index-agreement", 8_000)]
    [InlineData("feed", 8_000)]
    [InlineData("schedules", 1_000)]
    [InlineData("isolation", 3_000)]
    [InlineData("lifetimes", 100)]
    [InlineData("slow-io", 30)]
    [InlineData("callbacks", 20)]
    public void Nothing_is_found_with_freed_memory_out_of_reach(string suite, int cases)
    {
        Assert.SkipUnless(SuiteShare.IsFull, "runs with all cases of the suites: VORON_SUITES=full");
        var plan = new RunPlan(cases, Seed) { Guard = true, ShrinkTime = TimeSpan.Zero };
        var result = new SuiteProcess(SuiteCatalog.Find(suite), plan).Run(15 * TestWait.Limit).ResultOrDeath();
        result.Failures.Should().BeEmpty();
        result.Cases.Should().BeGreaterThanOrEqualTo(plan.Count);
    }
}
