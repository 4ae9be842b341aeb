namespace Voron.Tests.Lifetimes;

/// <content>Compressed values.</content>
public sealed partial class ArgumentTests
{
    private static IEnumerable<ArgumentRow> CompressionRows =>
    [
        .. Names("ReadTransaction.GetValueCompression(String)", "name", (place, name) => place.Reading.GetValueCompression(name)),
        .. Names("ReadTransaction.GetCompressionStatistics(String, CancellationToken)", "name", (place, name) => place.Reading.GetCompressionStatistics(name)),
        .. Names("WriteTransaction.GetValueCompression(String)", "name", (place, name) => place.Writing.GetValueCompression(name)),
        .. Names(
            "WriteTransaction.CompressValues(String, ValueCompression)", "name",
            (place, name) => place.Writing.CompressValues(name, ValueCompression.Fast)),
        new(
            "WriteTransaction.CompressValues(String, ValueCompression)", "compression", typeof(ArgumentOutOfRangeException),
            place => place.Writing.CompressValues(HandleSet.TreeName, (ValueCompression)3)),
        .. Names(
            "StorageEnvironment.TrainDictionaryAsync(String, CancellationToken)", "name",
            (place, name) => Await(place.Environment.TrainDictionaryAsync(name))),
        .. Names(
            "StorageEnvironment.RecompressAsync(String, CancellationToken)", "name",
            (place, name) => Await(place.Environment.RecompressAsync(name))),
    ];
}
