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

    /// <exception cref="ToolException">The file exists.</exception>
    /// <exception cref="IOException">It cannot be written; nothing is left of it.</exception>
    public static async Task WriteAsync(string path, string page, CancellationToken stop)
    {
        RefuseExisting(path);
        var file = PrivateFile.Create(path, FileOptions.None);
        try
        {
            await using (file.ConfigureAwait(false))
                await file.WriteAsync(System.Text.Encoding.UTF8.GetBytes(page), stop).ConfigureAwait(false);
        }
        catch
        {
            File.Delete(path);
            throw;
        }
    }
}
