namespace Voron.Tests;

/// <summary>Symbolic links, where the system makes them. Else the test is skipped: Wine only says that it has made one.</summary>
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
            // Windows lets few users make them.
        }

        Assert.SkipWhen(OperatingSystem.IsWindows() && new FileInfo(link).LinkTarget == null, "the system makes no symbolic links");
    }
}
