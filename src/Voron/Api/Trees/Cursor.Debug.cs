using System.Diagnostics;

namespace Voron;

/// <content>The cursor as a debugger and a log show it: nothing here throws, waits, moves the cursor or applies a put.</content>
[DebuggerDisplay("{ToString(),nq}")]
[DebuggerTypeProxy(typeof(DebugView))]
public readonly partial struct Cursor
{
    /// <summary>Describes the cursor by its place, with the key of its entry as text, or in hexadecimal if it is not printable UTF-8.</summary>
    public override string ToString() => _handle.Describe("cursor", static (lease, generation) => lease.Describe(generation));

    private sealed class DebugView(Cursor cursor)
    {
        /// <summary>Null when the cursor is closed.</summary>
        public string? Place => cursor._handle.PlaceOf(static (lease, generation) => lease.Describe(generation));

        public bool IsClosed => Place == null;
    }
}
