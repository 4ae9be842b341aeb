using System.Diagnostics;
using Voron.Simulation.Harness;

namespace Voron.Simulation.Disks;

/// <summary>A small ext4 volume in a file behind a loop device. Only for root, where the kernel has such devices.</summary>
internal sealed class LoopVolume : IDisposable
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(20);

    private readonly string _image;
    private bool _isMounted;

    private LoopVolume(string image, string path)
    {
        _image = image;
        Path = path;
    }

    public string Path { get; }

    /// <summary>Creates and mounts a volume, or gives the reason why that is impossible.</summary>
    public static LoopVolume? TryMake(string image, string path, out string reason, long bytes = 96 << 20)
    {
        reason = "";
        if (!Environment.IsPrivilegedProcess)
        {
            reason = "not root";
            return null;
        }
        using (var file = new FileStream(image, FileMode.CreateNew))
            file.SetLength(bytes);
        Directory.CreateDirectory(path);
        var volume = new LoopVolume(image, path);
        if (TryRun(out reason, "mkfs.ext4", "-q", "-F", image) && volume.TryMount(out reason))
            return volume;
        return null;
    }

    /// <summary>Makes the file system report an internal error and become read-only, as after an error of its device.</summary>
    public void Abort()
    {
        if (!TryRun(out var reason, "mount", "-o", "remount,abort", Path))
            throw new TortureException($"The volume at '{Path}' cannot be aborted: {reason}");
    }

    /// <summary>Requests a read-only mount, as an administrator would: refused while files are open for writing.</summary>
    public bool TryMakeReadOnly() => TryRun(out _, "mount", "-o", "remount,ro", Path);

    public void MountAgain()
    {
        Unmount();
        if (!TryMount(out var reason))
            throw new TortureException($"'{_image}' cannot be mounted again: {reason}");
    }

    /// <summary>Takes all blocks, those that only root gets included, and returns some.</summary>
    /// <param name="room">The bytes that are left, at most.</param>
    /// <returns>The file that has the blocks. Its deletion makes room again.</returns>
    public string Fill(long room)
    {
        var name = System.IO.Path.Combine(Path, "filler");
        var most = Math.Max(0, new DriveInfo(Path).AvailableFreeSpace - (1 << 20));
        using var file = new FileStream(
            name, new FileStreamOptions { Mode = FileMode.CreateNew, Access = FileAccess.Write, BufferSize = 0, PreallocationSize = most });
        file.SetLength(most);
        file.Position = most;
        for (var part = new byte[1 << 20]; part.Length >= 1 << 10;)
        {
            try
            {
                file.Write(part);
            }
            catch (IOException)
            {
                part = new byte[part.Length / 2];
            }
        }

        file.Flush(flushToDisk: true);
        file.SetLength(Math.Max(0, file.Length - room) / 4096 * 4096);
        file.Flush(flushToDisk: true);
        return name;
    }

    public void Dispose() => Unmount();

    private bool TryMount(out string reason) => _isMounted = TryRun(out reason, "mount", "-o", "loop", _image, Path);

    // A process that another thread starts at this moment has copies of all files until it runs its program: the volume is busy meanwhile.
    private void Unmount()
    {
        var deadline = Environment.TickCount64 + (long)Patience.TotalMilliseconds;
        while (_isMounted && !TryRun(out var reason, "umount", Path))
        {
            if (Environment.TickCount64 > deadline)
                throw new TortureException($"'{Path}' cannot be unmounted: {reason}");
            Thread.Sleep(50);
        }

        _isMounted = false;
    }

    /// <summary>Runs a program of the system.</summary>
    /// <returns>False if it fails, or does not exist.</returns>
    public static bool TryRun(out string reason, string program, params string[] arguments)
    {
        try
        {
            var start = new ProcessStartInfo(program, arguments) { RedirectStandardError = true, RedirectStandardOutput = true };
            using var process = Process.Start(start)!;
            reason = process.StandardError.ReadToEnd().Trim();
            process.WaitForExit();
            return process.ExitCode == 0;
        }
        catch (System.ComponentModel.Win32Exception e)
        {
            reason = $"{program}: {e.Message}";
            return false;
        }
    }
}
