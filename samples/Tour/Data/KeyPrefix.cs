namespace Tour.Data;

/// <summary>The beginning that keys of one group have in common, such as <c>M:System.String.</c>.</summary>
/// <param name="Start">The beginning, which is the first possible key.</param>
/// <param name="End">The first key behind the group.</param>
/// <param name="Expected">What a store has to return, in the order of keys.</param>
internal sealed record KeyPrefix(byte[] Start, byte[] End, Digest Expected);
