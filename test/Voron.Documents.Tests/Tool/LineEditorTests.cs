using Voron.Documents.Tool;

namespace Voron.Documents.Tests.Tool;

/// <summary>Lines are edited as in a shell.</summary>
[Quick]
public sealed class LineEditorTests
{
    [Theory]
    [InlineData("stats\r", "stats")]
    [InlineData("section = \"gam\u0003stats\r", "stats")]
    [InlineData("stazz\b\bts\r", "stats")]
    [InlineData("\b\bstats\r", "stats")]
    [InlineData("old\u0015stats\n", "stats")]
    [InlineData("sta\u0004ts\r", "stats")]
    [InlineData("\U0001F600\bstats\r", "stats")]
    [InlineData("\r", "")]
    [InlineData("\u0004", null)]
    [InlineData("stats\u0003\u0004", null)]
    public void A_line_is_what_is_left_of_it(string typed, string? line)
    {
        var place = 0;
        using var output = new StringWriter();
        var editor = new LineEditor(() => KeyOf(typed[place++]), output);
        editor.Read("> ").Should().Be(line);
        place.Should().Be(typed.Length);
        output.ToString().Should().StartWith("> ").And.EndWith(Environment.NewLine);
    }

    [Fact]
    public void A_line_that_is_discarded_is_followed_by_the_sign()
    {
        const string Typed = "x\u0003y\r";
        var place = 0;
        using var output = new StringWriter { NewLine = "\n" };
        new LineEditor(() => KeyOf(Typed[place++]), output).Read("> ").Should().Be("y");
        output.ToString().Should().Be("> x^C\n> y\n");
    }

    private static ConsoleKeyInfo KeyOf(char typed) => new(typed, typed == '\b' ? ConsoleKey.Backspace : ConsoleKey.None, false, false, false);
}
