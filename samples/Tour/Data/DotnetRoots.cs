using System.Runtime.InteropServices;

namespace Tour.Data;

/// <summary>The places where the SDK may keep the documentation of .NET's own API, the most likely ones first.</summary>
internal static class DotnetRoots
{
    private const string Pack = "Microsoft.NETCore.App.Ref";

    /// <summary>Finds the XML files of the newest version.</summary>
    public static IReadOnlyList<string> FindDocumentation()
    {
        foreach (var packs in Packs())
        {
            var versions = Subdirectories(packs).OrderByDescending(static path => VersionOf(Path.GetFileName(path)));
            foreach (var frameworks in versions.Select(static version => Subdirectories(Path.Combine(version, "ref"))))
            {
                foreach (var framework in frameworks.OrderByDescending(static path => VersionOf(Path.GetFileName(path).TrimStart('n', 'e', 't'))))
                {
                    var files = Directory.GetFiles(framework, "*.xml");
                    Array.Sort(files, StringComparer.Ordinal);
                    if (files.Length > 0)
                        return files;
                }
            }
        }

        return [];
    }

    // The last place is that of packs which the SDK has not brought along, and which a build has downloaded.
    private static IEnumerable<string> Packs()
    {
        // It ends with a separator: shared/Microsoft.NETCore.App/10.0.0/
        var runtime = Path.TrimEndingDirectorySeparator(RuntimeEnvironment.GetRuntimeDirectory());
        string?[] roots =
        [
            Path.GetDirectoryName(Path.GetDirectoryName(Path.GetDirectoryName(runtime))),
            Environment.GetEnvironmentVariable("DOTNET_ROOT"),
            Environment.GetEnvironmentVariable("DOTNET_HOST_PATH") is { Length: > 0 } host ? Path.GetDirectoryName(host) : null,
            Path.GetDirectoryName(Environment.ProcessPath),
        ];
        var home = Environment.GetFolderPath(Environment.SpecialFolder.UserProfile);
        var packages = Environment.GetEnvironmentVariable("NUGET_PACKAGES") ?? Path.Combine(home, ".nuget", "packages");
        return roots.OfType<string>().Where(static root => root.Length > 0).Select(static root => Path.Combine(root, "packs", Pack))
            .Append(Path.Combine(packages, Pack.ToLowerInvariant()));
    }

    private static string[] Subdirectories(string path) => Directory.Exists(path) ? Directory.GetDirectories(path) : [];

    // A preview has a name behind its number.
    private static Version VersionOf(string name) => Version.TryParse(name.Split('-')[0], out var version) ? version : new Version();
}
