using Voron.Tool.Streams;

namespace Voron.Tool.Reports;

/// <summary>Writes a page to a new file.</summary>
internal static class ReportFile
{
    /// <exception cref="ToolException">The file exists.</exception>
    public static void RefuseExisting(string path)
    {
        if (Path.Exists(path))
            throw new ToolException(ExitCode.InUse, $"There is a file '{path}' already. Nothing is overwritten.");
    }

    /// <exception cref="ToolException">The file exists, or there is no room for it; nothing is left of it.</exception>
    /// <exception cref="IOException">It cannot be written; nothing is left of it.</exception>
    public static void Write(string path, string page)
    {
        RefuseExisting(path);
        WholeFile.Write(path, file => file.Write(System.Text.Encoding.UTF8.GetBytes(page)));
    }
}
