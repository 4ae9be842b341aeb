namespace SecondaryIndex;

internal sealed record Order(long Id, string Customer, decimal Total);
