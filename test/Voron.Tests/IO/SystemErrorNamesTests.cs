using System.Runtime.InteropServices;
using Voron.IO;
using Voron.IO.Posix;
using Voron.Tests.Faults;

namespace Voron.Tests.IO;

/// <summary>Error numbers of the system appear with their names, as its documentation has them.</summary>
public sealed class SystemErrorNamesTests
{
    [Fact]
    public void Numbers_that_all_POSIX_systems_share_have_names()
    {
        SystemErrorNames.Posix(28, isMac: false).Should().Be("ENOSPC");
        SystemErrorNames.Posix(5, isMac: true).Should().Be("EIO");
        SystemErrorNames.Posix(30, isMac: true).Should().Be("EROFS");
        SystemErrorNames.Posix(0, isMac: false).Should().BeNull();
        SystemErrorNames.Posix(9999, isMac: false).Should().BeNull();
    }

    [Fact]
    public void Numbers_that_differ_have_the_name_of_their_system()
    {
        SystemErrorNames.Posix(122, isMac: false).Should().Be("EDQUOT");
        SystemErrorNames.Posix(69, isMac: true).Should().Be("EDQUOT");
        SystemErrorNames.Posix(11, isMac: false).Should().Be("EAGAIN");
        SystemErrorNames.Posix(11, isMac: true).Should().Be("EDEADLK");
        SystemErrorNames.Posix(35, isMac: true).Should().Be("EAGAIN");
        foreach (var (number, name) in new[]
        {
            (Errno.Loop, "ELOOP"), (Errno.WouldBlock, "EAGAIN"), (Errno.Quota, "EDQUOT"), (Errno.NoSystemCall, "ENOSYS"), (Errno.NoSpace, "ENOSPC"),
            (Errno.FileTooLarge, "EFBIG"), (Errno.Interrupted, "EINTR"), (Errno.NotPermitted, "EPERM"), (Errno.NoDevice, "ENODEV"),
        })
        {
            SystemErrorNames.Posix(number, Platform.IsMac).Should().Be(name);
        }
    }

    // The system's own table is the reference, where the C library can be asked for a name.
    [Fact]
    public unsafe void Every_name_is_the_one_of_the_C_library()
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "asks the C library of Linux");
        Assert.SkipUnless(
            NativeLibrary.TryLoad("libc.so.6", out var library) && NativeLibrary.TryGetExport(library, "strerrorname_np", out _),
            "needs strerrorname_np, which the C library has from version 2.32 on");
        var nameOf = (delegate* unmanaged<int, byte*>)NativeLibrary.GetExport(library, "strerrorname_np");
        var found = 0;
        for (var error = 1; error < 200; error++)
        {
            if (SystemErrorNames.Posix(error, isMac: false) is not { } name)
                continue;
            found++;
            var expected = Marshal.PtrToStringUTF8((nint)nameOf(error));
            name.Should().Be(expected == "ENOTSUP" ? "EOPNOTSUPP" : expected, "{0}", error);
        }

        found.Should().BeGreaterThan(40);
    }

    [Fact]
    public void Windows_numbers_are_found_in_an_HRESULT()
    {
        SystemErrorNames.Describe(unchecked((int)0x80070070)).Should().Be("ERROR_DISK_FULL (112)");
        SystemErrorNames.Describe(unchecked((int)0x80070020)).Should().Be("ERROR_SHARING_VIOLATION (32)");
        SystemErrorNames.Describe(unchecked((int)0x8007FFFE)).Should().Be("error 65534");
        SystemErrorNames.Describe(unchecked((int)0x80131620)).Should().Be("COR_E_IO (0x80131620)");
        SystemErrorNames.Describe(unchecked((int)0x88880001)).Should().Be("HRESULT 0x88880001");
    }

    [Fact]
    public void The_exception_of_a_disk_shows_the_name()
    {
        Assert.SkipWhen(OperatingSystem.IsWindows(), "shows a POSIX number");
        Errno.ToException("pwrite", "/data/voron.data", Errno.NoSpace).Message
            .Should().Be("pwrite failed on '/data/voron.data': No space left on device, ENOSPC (28).");
        new DiskException(DiskError.Failed, "read", "x", "It failed").Message.Should().Be("read failed on 'x': It failed.");
    }

    [Fact]
    public void Exceptions_of_the_base_library_keep_the_system_s_number()
    {
        Assert.SkipWhen(OperatingSystem.IsWindows(), "shows POSIX numbers");
        using var directory = new TemporaryDirectory();
        var missing = SystemErrors.From(
            FluentActions.Invoking(() => File.ReadAllBytes(Path.Combine(directory.Path, "none", "none")))
                .Should().Throw<IOException>().Which, "read", "none");
        missing.Error.Should().Be(DiskError.NotFound);
        missing.Message.Should().EndWith("ENOENT (2).");
        var tooLong = SystemErrors.From(new IOException("File name too long", 36), "create", "x");
        tooLong.Message.Should().Be(OperatingSystem.IsLinux() ? "create failed on 'x': File name too long, ENAMETOOLONG (36)." : tooLong.Message);
        SystemErrors.From(new IOException("No space left on device", Errno.NoSpace), "create", "x").Error.Should().Be(DiskError.NoSpace);
        SystemErrors.From(new UnauthorizedAccessException("Access denied", new IOException("Not permitted", Errno.NotPermitted)), "open", "x").Message
            .Should().EndWith("EPERM (1).");
        SystemErrors.From(new UnauthorizedAccessException("Access denied"), "open", "x").Message.Should().EndWith("EACCES (13).");
    }
}
