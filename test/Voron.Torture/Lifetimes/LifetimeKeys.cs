namespace Voron.Torture.Lifetimes;

/// <summary>The few keys that all objects of a run share.</summary>
internal static class LifetimeKeys
{
    public const int Count = 12;

    public static byte[] Of(int key) => [(byte)'k', (byte)('a' + key)];
}
