namespace Voron.Tests;

/// <summary>The sources from which the tests were built, for tests that read them.</summary>
internal static class SourceTree
{
    private static readonly Lazy<string> LazyRoot = new(FindRoot);

    /// <summary>The directory of the solution.</summary>
    public static string Root => LazyRoot.Value;

    /// <summary>Returns the full path of a file of the repository.</summary>
    public static string File(string relative) => Path.Combine(Root, relative.Replace('/', Path.DirectorySeparatorChar));

    /// <summary>
    /// Returns the source files below a directory, as paths relative to it with slashes, without the output of builds and tests.
    /// </summary>
    public static IReadOnlyList<string> Sources(string directory, string pattern = "*.cs")
    {
        var root = File(directory);
        return System.IO.Directory.EnumerateFiles(root, pattern, SearchOption.AllDirectories)
            .Select(path => Path.GetRelativePath(root, path).Replace(Path.DirectorySeparatorChar, '/'))
            .Where(path => !path.Split('/').Any(part => part is "bin" or "obj" or "TestResults" or "torture-failures" or ".git"))
            .Order(StringComparer.Ordinal)
            .ToList();
    }

    private static string FindRoot()
    {
        for (var directory = new DirectoryInfo(AppContext.BaseDirectory); directory != null; directory = directory.Parent)
        {
            if (System.IO.File.Exists(Path.Combine(directory.FullName, "Voron.sln")))
                return directory.FullName;
        }

        throw new DirectoryNotFoundException($"There is no Voron.sln above '{AppContext.BaseDirectory}'.");
    }
}
