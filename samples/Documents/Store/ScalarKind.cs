namespace Voron.Documents;

/// <summary>The kinds of values that are compared.</summary>
internal enum ScalarKind
{
    Null,
    False,
    True,
    Number,
    Text,
}
