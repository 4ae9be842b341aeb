using Voron.Benchmarks.Workloads;

namespace Voron.Benchmarks.Engines.Tables;

/// <summary>An index of the table besides its primary key.</summary>
internal enum PackageIndex
{
    /// <summary>By <see cref="Package.Section"/>: few different keys.</summary>
    Section,

    /// <summary>By each of <see cref="Package.Tags"/>: several keys a row.</summary>
    Tag,

    /// <summary>By <see cref="Package.Source"/> and <see cref="Package.Version"/>: unique.</summary>
    Source,
}
