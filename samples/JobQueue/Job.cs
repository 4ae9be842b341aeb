namespace JobQueue;

/// <summary>A leased job.</summary>
/// <param name="Id">Its number.</param>
/// <param name="Payload">What is to be done.</param>
/// <param name="Attempt">How often it has been leased, this time included.</param>
/// <param name="LeasedUntil">The end of the lease, which also proves it.</param>
internal sealed record Job(long Id, byte[] Payload, int Attempt, DateTime LeasedUntil);
