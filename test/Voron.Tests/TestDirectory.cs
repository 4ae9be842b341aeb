namespace Voron.Tests;

/// <summary>A directory of its own for one test, gone afterwards.</summary>
internal sealed class TestDirectory : IDisposable
{
    public string Path { get; } = Directory.CreateTempSubdirectory("voron-test-").FullName;

    public static implicit operator string(TestDirectory directory) => directory.Path;

    public void Dispose() => Directory.Delete(Path, recursive: true);
}
