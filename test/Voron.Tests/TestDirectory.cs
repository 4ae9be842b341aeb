namespace Voron.Tests;

/// <summary>A separate directory for one test, deleted afterwards.</summary>
internal sealed class TestDirectory : IDisposable
{
    public string Path { get; } = Directory.CreateTempSubdirectory("voron-test-").FullName;

    public static implicit operator string(TestDirectory directory) => directory.Path;

    public void Dispose() => Directory.Delete(Path, recursive: true);
}
