namespace Voron.Tests;

/// <summary>Creates symbolic links where the system can. Otherwise the test is skipped: Wine only claims to have created one.</summary>
internal static class TestLinks
{
    public static void ToDirectory(string link, string target) =>
        Make(link, () => Directory.CreateSymbolicLink(link, target));

    public static void ToFile(string link, string target) =>
        Make(link, () => File.CreateSymbolicLink(link, target));

    private static void Make(string link, Action make)
    {
        try
        {
            make();
        }
        catch (Exception e) when (OperatingSystem.IsWindows() && e is IOException or UnauthorizedAccessException)
        {
            // Windows lets few users create symbolic links.
        }

        Assert.SkipWhen(OperatingSystem.IsWindows() && new FileInfo(link).LinkTarget == null, "the system makes no symbolic links");
    }
}
