using System.Text;

namespace Voron.Documents.Text;

/// <summary>Small Latin letters without their accents.</summary>
internal static class Accents
{
    private const int First = 'à';

    // Each group has a letter and those that it replaces.
    private static readonly string[] Groups =
    [
        "aàáâãäåāăą", "cçćĉċč", "dď", "eèéêëēĕėęě", "gĝğġģ", "hĥ", "iìíîïĩīĭį", "jĵ", "kķ", "lĺļľ", "nñńņň",
        "oòóôõöōŏő", "rŕŗř", "sśŝşš", "tţť", "uùúûüũūŭůűų", "wŵ", "yýÿŷ", "zźżž",
    ];

    private static readonly char[] Letters = MakeLetters();

    public static Rune Remove(Rune rune)
    {
        var at = rune.Value - First;
        return (uint)at < (uint)Letters.Length && Letters[at] != 0 ? new Rune(Letters[at]) : rune;
    }

    private static char[] MakeLetters()
    {
        var letters = new char[Groups.Max(static group => group.Max()) - First + 1];
        foreach (var group in Groups)
        {
            foreach (var accented in group.AsSpan(1))
                letters[accented - First] = group[0];
        }

        return letters;
    }
}
