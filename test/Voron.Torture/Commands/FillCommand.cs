using System.Buffers.Binary;
using System.CommandLine;
using Microsoft.Extensions.Logging.Abstractions;
using Voron.IO.Posix;
using Voron.Simulation.Harness;

namespace Voron.Torture.Commands;

/// <summary>Fills a volume, and checks that its content can be deleted again. For small volumes on loop devices.</summary>
internal static class FillCommand
{
    private const string TreeName = "items";
    private const int ValueBytes = 200_000;
    private const int Openings = 3;

    public static Command Create()
    {
        var directory = new Argument<string>("directory") { Description = "A directory on the volume." };
        var unmarked = new Option<bool>("--unmarked") { Description = "As if the file system were unknown: files are not marked to be overwritten in place." };
        var command = new Command("fill", "Fills a small volume, and deletes everything again.") { directory, unmarked };
        command.SetAction(parsed => Run(parsed.GetValue(directory)!, parsed.GetValue(unmarked)));
        return command;
    }

    private static int Run(string directory, bool isUnmarked)
    {
        Directory.CreateDirectory(directory);
        (var stored, var isPoisoned, var end) = Fill(directory, isUnmarked);
        Console.WriteLine($"{stored} items stored, then {end}");
        long deleted = 0;
        var openings = 0;
        var last = "";
        while (openings < Openings && deleted < stored)
        {
            openings++;
            (var more, last) = Delete(directory, isUnmarked);
            deleted += more;
        }
        var isRight = !isPoisoned && deleted == stored;
        Console.WriteLine($"{deleted} of {stored} items deleted in {openings} openings{last}; poisoned {(isPoisoned ? "yes" : "no")}");
        return isRight ? 0 : Program.ExitFailure;
    }

    private static (long Stored, bool IsPoisoned, string End) Fill(string directory, bool isUnmarked)
    {
        using var environment = Open(directory, isUnmarked);
        var value = new byte[ValueBytes];
        long stored = 0;
        try
        {
            // Small items lie between the large ones, so that some go through the journal and are overwritten by flushes.
            for (; ; stored++)
            {
                using var writing = environment.BeginWrite();
                var tree = writing.CreateTree(TreeName);
                new Random((int)stored).NextBytes(value);
                tree.Put(Key(stored), stored % 3 == 0 ? value : value.AsSpan(0, 3_000));
                writing.Commit();
                if (stored % 50 == 49)
                    environment.Flush();
            }
        }
        catch (VoronException e)
        {
            FillRest(directory);
            return (stored, environment.GetStatistics().IsPoisoned, $"{e.GetType().Name}: {e.Message}");
        }
    }

    /// <summary>Fills the rest of the volume with another file, leaving no space that the environment had no room in.</summary>
    private static void FillRest(string directory)
    {
        using var file = new FileStream(Path.Combine(directory, "rest"), FileMode.Create, FileAccess.Write, FileShare.None, bufferSize: 0);
        var bytes = new byte[1 << 16];
        for (var length = bytes.Length; length >= 512; length /= 2)
        {
            try
            {
                while (true)
                {
                    Random.Shared.NextBytes(bytes);
                    file.Write(bytes, 0, length);
                    file.Flush(flushToDisk: true);
                }
            }
            catch (IOException)
            {
                // There is no space left for blocks of that size.
            }
        }
    }

    private static (long Deleted, string End) Delete(string directory, bool isUnmarked)
    {
        long deleted = 0;
        try
        {
            using var environment = Open(directory, isUnmarked);
            while (true)
            {
                using var writing = environment.BeginWrite();
                var tree = writing.CreateTree(TreeName);
                using (var cursor = tree.OpenCursor())
                {
                    if (!cursor.SeekFirst())
                        break;
                    tree.Delete(cursor.Key.ToArray());
                }
                writing.Commit();
                if (++deleted % 50 == 0)
                    environment.Flush();
            }
            if (environment.Verify() is { IsSound: false } report)
                throw new BrokenPromiseException(report.ToString());
            return (deleted, "");
        }
        catch (VoronException e)
        {
            return (deleted, $", the last ended with {e.GetType().Name}: {e.Message}");
        }
    }

    private static StorageEnvironment Open(string directory, bool isUnmarked)
    {
        var options = new StorageOptions { BackgroundFlush = false, InitialJournalFileBytes = 1 << 20, MaxJournalFileBytes = 4 << 20 };
        return isUnmarked
            ? StorageEnvironment.Open(PosixDisk.Open(directory, false, [], NullLogger.Instance, new() { Kind = default(FileSystemKind) }), options)
            : StorageEnvironment.Open(directory, options);
    }

    private static byte[] Key(long number)
    {
        var key = new byte[8];
        BinaryPrimitives.WriteInt64BigEndian(key, number);
        return key;
    }
}
