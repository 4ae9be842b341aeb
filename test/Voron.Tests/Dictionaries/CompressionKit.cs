using System.Text;
using Voron.Simulation.Harness;
using Voron.Tests.Faults;

namespace Voron.Tests.Dictionaries;

/// <summary>Trees with compressed values, and records that have much in common.</summary>
internal static class CompressionKit
{
    public const string TreeName = "items";

    public static CancellationToken Token => TestContext.Current.CancellationToken;

    /// <summary>Options without a background, so that nothing is trained but by a call.</summary>
    public static StorageOptions Options()
    {
        var options = FaultTestKit.Options();
        options.LargeValueBytes = 16 << 10;
        return options;
    }

    /// <summary>Creates the tree and has its values compressed.</summary>
    public static void Compress(
        this StorageEnvironment environment, ValueCompression compression = ValueCompression.Thorough, string tree = TreeName) =>
        environment.Write(writing =>
        {
            writing.CreateTree(tree);
            writing.CompressValues(tree, compression);
        });

    /// <summary>Puts records under their numbers.</summary>
    public static void Fill(this StorageEnvironment environment, int from, int count, int bytes = 700, string tree = TreeName) =>
        environment.Write(writing =>
        {
            var items = writing.OpenTree(tree);
            for (var i = from; i < from + count; i++)
                items.Put(Key(i), Record(i, bytes));
        });

    public static byte[] Key(int number) => [(byte)(number >> 16), (byte)(number >> 8), (byte)number];

    /// <summary>Returns the record of a number, about as long as wanted: JSON, whose names and words occur in all of them.</summary>
    public static byte[] Record(int number, int bytes = 700)
    {
        var random = new Random(number);
        string[] words =
        [
            "library", "development", "files", "for", "the", "documentation", "runtime", "server", "client", "python", "interface", "tools",
        ];
        var text = new StringBuilder($"{{\"package\":\"pkg-{random.Next(100_000)}\",\"maintainer\":\"Team {random.Next(50)} ");
        text.Append($"<team{random.Next(50)}@example.org>\",\"description\":\"");
        while (text.Length < bytes)
            text.Append(words[random.Next(words.Length)]).Append(' ').Append(random.Next(1000)).Append(' ');
        return Encoding.UTF8.GetBytes(text.Append("\"}").ToString());
    }

    /// <summary>Returns bytes that cannot be compressed.</summary>
    public static byte[] Noise(int seed, int length) => SeededBytes.Make(seed, length);

    /// <summary>Trains a dictionary for the tree.</summary>
    public static bool Train(this StorageEnvironment environment, string tree = TreeName) =>
        environment.TrainDictionaryAsync(tree, Token).AsTask().GetAwaiter().GetResult();

    public static RecompressionReport Recompress(this StorageEnvironment environment, string tree = TreeName) =>
        environment.RecompressAsync(tree, Token).AsTask().GetAwaiter().GetResult();

    /// <summary>Returns the pages of the tree.</summary>
    public static TreeStatistics Statistics(this StorageEnvironment environment, string tree = TreeName)
    {
        using var reading = environment.BeginRead();
        return reading.OpenTree(tree).GetStatistics();
    }

    public static void AssertSound(this StorageEnvironment environment) => environment.Verify().Problems.Should().BeEmpty();
}
