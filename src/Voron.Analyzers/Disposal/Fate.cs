namespace Voron.Analyzers.Disposal;

/// <summary>What the code does with a value.</summary>
internal enum Fate
{
    /// <summary>Disposes it, returns it, stores it, or passes it on: another part of the code is responsible from then on.</summary>
    HandedOver,

    /// <summary>Calls a member of it, or does nothing with it.</summary>
    Used,

    /// <summary>Assigns it to a local variable.</summary>
    Local,
}
