using System.Runtime.InteropServices;
using Microsoft.Extensions.Logging.Abstractions;
using Voron.IO;
using Voron.IO.Posix;
using Voron.Simulation.Harness;
using Voron.Torture.Crashes;

namespace Voron.Torture.Faults;

/// <summary>Uses real files whose system calls are interrupted and do less than requested: no caller may notice.</summary>
internal static unsafe class SystemCallRun
{
    private const int FileOperations = 200;
    private const int FileBytes = 1 << 20;
    private const int NoSpace = 28;
    private const int InputOutput = 5;

    public static bool IsSupported => OperatingSystem.IsLinux() || OperatingSystem.IsMacOS();

    public static void Make(SuiteRun run)
    {
        var directory = Directory.CreateTempSubdirectory("voron-").FullName;
        var calls = new UnreliableCalls(run.Choices.Next());
        try
        {
            CheckFile(run.Choices, directory, calls);
            CheckEnvironment(run.Choices, directory, calls);
            run.Count(calls.Interrupted + calls.Short);
        }
        finally
        {
            run.Tally("interrupted system calls", calls.Interrupted);
            run.Tally("partial system calls", calls.Short);
            Directory.Delete(directory, recursive: true);
        }
    }

    // Compares one file with an array of bytes.
    private static void CheckFile(Tape choices, string directory, UnreliableCalls calls)
    {
        using var disk = PosixDisk.Open(directory, false, [], NullLogger.Instance, new() { Calls = calls });
        var access = choices.Next(2) == 0 ? DiskAccess.Buffered : DiskAccess.Unbuffered;
        using var file = disk.Open("bytes", DiskOpen.New, access);
        file.Allocate(0, FileBytes);
        var expected = new byte[FileBytes];
        var unit = access == DiskAccess.Buffered ? 1 : DiskRules.Alignment;
        var memory = (byte*)NativeMemory.AlignedAlloc(FileBytes, DiskRules.Alignment);
        try
        {
            for (var i = 0; choices.GoesOn(i < FileOperations); i++)
            {
                var offset = choices.Next(FileBytes / unit) * (long)unit;
                var length = (int)Math.Min(FileBytes - offset, (choices.Next(unit == 1 ? 70_000 : 20) + 1L) * unit);
                var block = new IoBlock(memory, (nuint)length);
                new Random(choices.Next()).NextBytes(new Span<byte>(memory, length));
                switch (choices.Next(5))
                {
                    case 0:
                        Write(choices, file, calls, offset, block, unit);
                        break;
                    case 1:
                        file.Write(offset, new ReadOnlySpan<byte>(memory, length));
                        break;
                    case 2:
                        WriteInBlocks(choices, file, offset, block, unit);
                        break;
                    case 3:
                        file.Sync();
                        continue;
                    default:
                        file.Read(offset, new Span<byte>(memory, length));
                        BrokenPromiseException.Require(
                            new ReadOnlySpan<byte>(memory, length).SequenceEqual(expected.AsSpan((int)offset, length)),
                            $"{length} bytes read at {offset} are not those that were written.");
                        continue;
                }
                new ReadOnlySpan<byte>(memory, length).CopyTo(expected.AsSpan((int)offset));
            }
            BrokenPromiseException.Require(file.Length == FileBytes, $"The file has {file.Length} bytes instead of {FileBytes}.");
        }
        finally
        {
            NativeMemory.AlignedFree(memory);
        }
        BrokenPromiseException.Require(
            File.ReadAllBytes(Path.Combine(directory, "bytes")).AsSpan().SequenceEqual(expected), "The file has other bytes than were written.");
        disk.Delete("bytes");
    }

    // A real error is reported, and the same call without the error does everything.
    private static void Write(Tape choices, DiskFile file, UnreliableCalls calls, long offset, IoBlock block, int unit)
    {
        calls.NextWriteError = choices.Next(2) == 0 ? InputOutput : NoSpace;
        var expected = calls.NextWriteError == NoSpace ? DiskError.NoSpace : DiskError.Failed;
        try
        {
            WriteInBlocks(choices, file, offset, block, unit);
        }
        catch (DiskException e)
        {
            BrokenPromiseException.Require(e.Error == expected, $"The system reported {expected}, and the file {e.Error}.");
            file.Write(offset, new ReadOnlySpan<byte>(block.Address, (int)block.Length));
            return;
        }
        throw new BrokenPromiseException("A write failed, and this was not reported.");
    }

    private static void WriteInBlocks(Tape choices, DiskFile file, long offset, IoBlock whole, int unit)
    {
        var length = (int)whole.Length;
        var blocks = new List<IoBlock>();
        for (var at = 0; at < length;)
        {
            var part = Math.Min(length - at, (choices.Next(Math.Max(1, length / unit / 3)) + 1) * unit);
            blocks.Add(new IoBlock(whole.Address + at, (nuint)part));
            at += part;
        }
        file.WriteVectored(offset, CollectionsMarshal.AsSpan(blocks));
    }

    private static void CheckEnvironment(Tape choices, string directory, UnreliableCalls calls)
    {
        var options = FaultRun.RandomOptions(choices);
        var content = Content.Empty;
        for (var round = 0; round < 2; round++)
        {
            IDisk disk = PosixDisk.Open(directory, false, [], NullLogger.Instance, new() { Calls = calls });
            using (var environment = StorageEnvironment.Open(disk, options))
            {
                for (var i = choices.Next(3, 12); choices.GoesOn(i > 0); i--)
                {
                    using (var writing = environment.BeginWrite())
                    {
                        content = new ModelTransaction(writing, content, choices).Change(choices.Next(1, 6)).Content;
                        writing.Commit();
                    }
                    if (choices.Next(4) == 3)
                        environment.Flush();
                }
                ContentCheck.Check(environment, [content]);
            }
            using var reopened = StorageEnvironment.Open(directory, options);
            ContentCheck.Check(reopened, [content]);
        }
    }
}
