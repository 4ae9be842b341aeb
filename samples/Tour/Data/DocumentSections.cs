using System.Text;

namespace Tour.Data;

/// <summary>The sections of the repository's own documents: what to load on a machine whose SDK has no documentation.</summary>
internal static class DocumentSections
{
    private const string SampleKey = "docs/concepts.md#Transactions";

    // What the keys of all engines of the tour can have.
    private const int MaxHeading = 200;

    /// <summary>Reads them; null if the program is not in the repository.</summary>
    public static DataSet? Read(Random random)
    {
        var directory = FindRepository(AppContext.BaseDirectory);
        if (directory == null)
            return null;
        var files = Directory.GetFiles(Path.Combine(directory, "docs"), "*.md", SearchOption.AllDirectories);
        Array.Sort(files, StringComparer.Ordinal);
        var names = files.Select(file => Path.GetRelativePath(directory, file).Replace('\\', '/')).ToList();
        var members = files.SelectMany((file, i) => SectionsOf(names[i], File.ReadLines(file)));
        var description = $"sections of the repository's documents, {files.Length} files in {directory}, as the SDK has no documentation";
        return new DataSet(description, members, names.Select(static name => $"{name}#"), SampleKey, random);
    }

    private static string? FindRepository(string? directory)
    {
        while (directory != null && !File.Exists(Path.Combine(directory, "Voron.sln")))
            directory = Path.GetDirectoryName(directory);
        return directory;
    }

    private static IEnumerable<Member> SectionsOf(string name, IEnumerable<string> lines)
    {
        var heading = "";
        var text = new StringBuilder();
        foreach (var line in lines)
        {
            if (line.StartsWith('#'))
            {
                yield return new(Key(), Text());
                heading = line.TrimStart('#', ' ');
                text.Clear();
            }
            else
            {
                text.Append(line).Append('\n');
            }
        }

        yield return new(Key(), Text());

        byte[] Text() => Encoding.UTF8.GetBytes(text.ToString().Trim());

        byte[] Key() => Encoding.UTF8.GetBytes($"{name}#{(heading.Length > MaxHeading ? heading[..MaxHeading] : heading)}");
    }
}
