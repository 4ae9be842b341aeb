using System.Text;
using System.Xml;

namespace Tour.Data;

/// <summary>The documentation of .NET's own API, as the SDK has it: a name and a text for each public type and member.</summary>
internal static class ApiDocumentation
{
    private const string SampleKey = "M:System.String.IndexOf(System.Char)";

    /// <summary>Reads it; null if the SDK has none.</summary>
    public static DataSet? Read(Random random, CancellationToken stop)
    {
        var files = DotnetRoots.FindDocumentation();
        if (files.Count == 0)
            return null;
        var members = new List<Member>[files.Count];

        // The longest file takes a quarter of the time, so it must not be the last one.
        var longestFirst = Enumerable.Range(0, files.Count).OrderByDescending(i => new FileInfo(files[i]).Length);
        try
        {
            Parallel.ForEach(longestFirst, new ParallelOptions { CancellationToken = stop }, i => members[i] = ReadFile(files[i]));
        }
        catch (AggregateException e)
        {
            throw new TourException(e.InnerExceptions[0].Message, e);
        }

        var all = members.SelectMany(static list => list).ToList();
        var groups = all.Where(static member => member.Key.AsSpan().StartsWith("T:"u8))
            .Select(static member => $"M:{Encoding.UTF8.GetString(member.Key.AsSpan(2))}.");
        var description = $"the documentation of .NET's own API, {files.Count} files in {Path.GetDirectoryName(files[0])}";
        return new DataSet(description, all, groups, SampleKey, random);
    }

    private static List<Member> ReadFile(string path)
    {
        try
        {
            var members = new List<Member>();
            using var xml = XmlReader.Create(path, new XmlReaderSettings { IgnoreComments = true, IgnoreProcessingInstructions = true });
            while (xml.ReadToFollowing("member"))
            {
                if (xml.GetAttribute("name") is { Length: > 0 } name)
                    members.Add(new(Encoding.UTF8.GetBytes(name), Encoding.UTF8.GetBytes(MemberText.Read(xml))));
            }

            return members;
        }
        catch (XmlException e)
        {
            throw new TourException($"'{path}' is no documentation: {e.Message}", e);
        }
    }
}
