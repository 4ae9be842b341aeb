namespace Tour.Output;

/// <summary>Text in lines of at most a width, if its words are not longer.</summary>
internal static class Wrapped
{
    public static IReadOnlyList<string> Lines(string text, int width)
    {
        var lines = new List<string>();
        foreach (var paragraph in text.Split('\n'))
        {
            var line = "";
            foreach (var word in paragraph.Split(' ', StringSplitOptions.RemoveEmptyEntries))
            {
                if (line.Length > 0 && line.Length + 1 + word.Length > width)
                {
                    lines.Add(line);
                    line = "";
                }

                line += line.Length > 0 ? $" {word}" : word;
            }

            lines.Add(line);
        }

        return lines;
    }
}
