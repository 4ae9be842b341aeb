namespace Voron;

/// <summary>The new environment that a dense copy writes, as far as the copy uses it. Disposing closes it.</summary>
internal interface ICopyTarget : IDisposable
{
    /// <inheritdoc cref="EnvironmentStatistics.DataFileBytes"/>
    long DataFileBytes { get; }

    /// <inheritdoc cref="StorageEnvironment.BeginWrite()"/>
    WriteTransaction BeginWrite();

    /// <inheritdoc cref="StorageEnvironment.CompactAsync"/>
    ValueTask<CompactionReport> CompactAsync(CancellationToken stop);
}
