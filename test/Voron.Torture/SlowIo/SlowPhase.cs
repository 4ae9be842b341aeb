namespace Voron.Torture.SlowIo;

/// <summary>The phases in which calls take long.</summary>
internal enum SlowPhase
{
    Opening,
    Work,
    Closing,
}
