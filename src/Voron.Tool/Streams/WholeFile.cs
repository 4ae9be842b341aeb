namespace Voron.Tool.Streams;

/// <summary>Writes a new file that appears as a whole, or not at all.</summary>
internal static class WholeFile
{
    /// <param name="path">The file, which must not exist.</param>
    /// <param name="write">Writes its content.</param>
    /// <exception cref="ToolException">There is no room for it; nothing is left of it.</exception>
    /// <exception cref="IOException">It exists, or cannot be written; nothing is left of what was written.</exception>
    public static void Write(string path, Action<Stream> write)
    {
        var file = PrivateFile.Create(path, FileOptions.None);
        try
        {
            // The end of the file is written when it is closed, which can fail, too.
            using (file)
                write(file);
        }
        catch (Exception failure)
        {
            File.Delete(path);
            if (Failures.CodeOf(failure) == ExitCode.NoRoom && failure is IOException)
                throw new ToolException(ExitCode.NoRoom, $"There is no room for '{path}', so it was not written: {failure.Message}");
            throw;
        }
    }
}
