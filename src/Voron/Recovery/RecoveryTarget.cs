using Voron.IO;
using Voron.Paging;
using Voron.Scratch;

namespace Voron.Recovery;

/// <summary>The parts of an environment that recovery brings to the newest durable state.</summary>
/// <param name="DataFile">The data file, from which replay takes base pages.</param>
/// <param name="Frames">The memory for replayed pages.</param>
/// <param name="Versions">The version table, without any version; it receives the replayed pages.</param>
/// <param name="Records">The memory for records.</param>
internal readonly record struct RecoveryTarget(DataFile DataFile, FrameAllocator Frames, VersionTable Versions, BlockMemory Records);
