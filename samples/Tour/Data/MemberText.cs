using System.Text;
using System.Xml;

namespace Tour.Data;

/// <summary>The text of one member: a line for its summary, each parameter, its result and each exception.</summary>
internal static class MemberText
{
    /// <summary>Reads to the end of the element at which the reader is.</summary>
    public static string Read(XmlReader xml)
    {
        if (xml.IsEmptyElement)
            return "";
        var text = new StringBuilder();
        for (var outer = xml.Depth; xml.Read() && xml.Depth > outer;)
        {
            if (xml.NodeType == XmlNodeType.Element)
                StartElement(xml, isLine: xml.Depth == outer + 1, text);
            else if (xml.NodeType is XmlNodeType.Text or XmlNodeType.CDATA or XmlNodeType.Whitespace or XmlNodeType.SignificantWhitespace)
                AddWords(xml.Value, text);
        }

        return text.ToString().TrimEnd();
    }

    private static void StartElement(XmlReader xml, bool isLine, StringBuilder text)
    {
        var name = xml.GetAttribute("name") ?? xml.GetAttribute("langword") ?? NameOf(xml.GetAttribute("cref")) ?? xml.GetAttribute("href");
        if (!isLine)
        {
            // A reference without words of its own reads as what it refers to.
            if (xml.IsEmptyElement && name != null)
                text.Append(name);
            return;
        }

        if (text.Length > 0)
            text.Append('\n');
        if (xml.LocalName != "summary")
            text.Append(xml.LocalName).Append(name == null ? "" : " ").Append(name).Append(": ");
    }

    // T:System.Int32 is System.Int32.
    private static string? NameOf(string? reference) => reference is [_, ':', ..] ? reference[2..] : reference;

    private static void AddWords(string words, StringBuilder text)
    {
        foreach (var character in words)
        {
            if (!char.IsWhiteSpace(character))
                text.Append(character);
            else if (text.Length > 0 && text[^1] is not (' ' or '\n'))
                text.Append(' ');
        }
    }
}
