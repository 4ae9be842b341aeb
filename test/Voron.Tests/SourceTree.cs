namespace Voron.Tests;

/// <summary>The sources that this test was built from, for tests that read them.</summary>
internal static class SourceTree
{
    private static readonly Lazy<string> LazyRoot = new(FindRoot);

    /// <summary>The directory that has the solution.</summary>
    public static string Root => LazyRoot.Value;

    /// <summary>The full path of a file of the repository.</summary>
    public static string File(string relative) => Path.Combine(Root, relative.Replace('/', Path.DirectorySeparatorChar));

    /// <summary>The source files below a directory, as paths relative to it with slashes; what builds and tests make is left out.</summary>
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
