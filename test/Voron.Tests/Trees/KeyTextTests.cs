using System.Text;
using Voron.Trees;

namespace Voron.Tests.Trees;

public sealed class KeyTextTests
{
    [Theory]
    [InlineData("", "''")]
    [InlineData("user:42", "'user:42'")]
    [InlineData("it's", "'it's'")]
    [InlineData("Größe", "'Größe'")]
    [InlineData("日本語", "'日本語'")]
    [InlineData("🚀", "'🚀'")]
    [InlineData("a\tb", "0x610962")]
    [InlineData("a\u0000", "0x6100")]
    [InlineData("\u200E", "0xE2808E")]
    [InlineData("\u2028", "0xE280A8")]
    [InlineData("\uE000", "0xEE8080")]
    [InlineData("0123456789abcdef0123456789abcdef", "'0123456789abcdef0123456789abcdef'")]
    [InlineData("0123456789abcdef0123456789abcdef!", "'0123456789abcdef0123456789abcdef'... (33 bytes)")]
    [InlineData("0123456789abcdef0123456789abcdeé", "'0123456789abcdef0123456789abcde'... (33 bytes)")]
    public void Printable_text_is_shown_as_text_and_cut_between_characters(string key, string expected) =>
        KeyText.Of(Encoding.UTF8.GetBytes(key)).Should().Be(expected);

    [Theory]
    [InlineData("FF", "0xFF")]
    [InlineData("00000001", "0x00000001")]
    [InlineData("61C3", "0x61C3")]
    [InlineData("61C328", "0x61C328")]
    [InlineData("EDA080", "0xEDA080")]
    [InlineData("C3", "0xC3")]
    public void Other_bytes_are_shown_in_hexadecimal(string bytes, string expected) => KeyText.Of(Convert.FromHexString(bytes)).Should().Be(expected);

    [Fact]
    public void Any_bytes_have_a_short_text()
    {
        var seed = TestSeed.Choose();
        var random = new Random(seed);
        for (var i = 0; i < SuiteShare.Rounds(20_000); i++)
        {
            var bytes = new byte[random.Next(80)];
            random.NextBytes(bytes);
            if (i % 2 == 0)
            {
                for (var at = 0; at < bytes.Length; at++)
                    bytes[at] = (byte)(bytes[at] % 95 + 32);
            }

            var text = KeyText.Of(bytes);
            text.Length.Should().BeLessThan(90, $"seed {seed}");
            text.EnumerateRunes().Any(character => Rune.IsControl(character) || character == Rune.ReplacementChar).Should().BeFalse($"seed {seed}");
            text.EndsWith(" bytes)", StringComparison.Ordinal).Should().Be(bytes.Length > 32, $"seed {seed}");
        }
    }
}
