namespace Voron.IO;

/// <summary>The only exception that leaves <see cref="IDisk"/> and <see cref="DiskFile"/>. Callers convert it into a public one.</summary>
internal sealed class DiskException : IOException
{
    public DiskException(DiskError error, string operation, string path, string reason, int nativeError = 0)
        : base($"{operation} failed on '{path}': {reason}" + (nativeError != 0 ? $", {SystemErrorNames.Describe(nativeError)}." : "."))
    {
        Error = error;
        Operation = operation;
        Path = path;
        NativeError = nativeError;
    }

    public DiskError Error { get; }

    public string Operation { get; }

    public string Path { get; }

    public int NativeError { get; }
}
