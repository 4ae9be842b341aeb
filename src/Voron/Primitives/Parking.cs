namespace Voron.Primitives;

/// <summary>
/// Holds an object between two uses. While the object is in use, nothing here refers to it, so that it can be collected if its user abandons it. The
/// caller synchronizes.
/// </summary>
internal sealed class Parking<T>
    where T : class
{
    private T? _parked;

    /// <summary>Returns the object, or null while it is in use. It stays until <see cref="Take"/>.</summary>
    public T? Peek() => _parked;

    /// <summary>Hands the object out.</summary>
    public void Take() => _parked = null;

    /// <summary>Takes the object back.</summary>
    public void Put(T parked) => _parked = parked;
}
