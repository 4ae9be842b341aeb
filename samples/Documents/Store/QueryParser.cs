using System.Diagnostics.CodeAnalysis;
using System.Globalization;
using System.Text;

namespace Voron.Documents;

/// <summary>Reads queries, from left to right.</summary>
internal sealed class QueryParser
{
    private const int MaxDepth = 100;

    private readonly string _text;
    private readonly List<Token> _tokens;
    private int _at;
    private int _depth;

    public QueryParser(string text)
    {
        ArgumentNullException.ThrowIfNull(text);
        _text = text;
        _tokens = Split();
    }

    private enum TokenKind
    {
        End,
        Word,
        Text,
        Sign,
    }

    private Token Next => _tokens[_at];

    public Query Parse()
    {
        var filter = Next.Kind == TokenKind.End || IsWord("order") || IsWord("take") ? null : ParseOr();
        JsonPath? order = null;
        var isDescending = false;
        if (TakeWord("order"))
        {
            Require("by");
            order = ParsePath();
            isDescending = TakeWord("desc");
            if (!isDescending)
                TakeWord("asc");
        }

        var take = long.MaxValue;
        if (TakeWord("take"))
        {
            if (!long.TryParse(Next.Text, NumberStyles.None, CultureInfo.InvariantCulture, out take))
                Fail("a number of documents");
            _at++;
        }

        if (Next.Kind != TokenKind.End)
            Fail("the end of the query");
        return new Query(filter, order, isDescending, take);
    }

    private Filter ParseOr() => ParseList(ParseAnd, "or", static parts => new OrFilter(parts));

    private Filter ParseAnd() => ParseList(ParseTerm, "and", static parts => new AndFilter(parts));

    private Filter ParseList(Func<Filter> part, string word, Func<IReadOnlyList<Filter>, Filter> join)
    {
        var parts = new List<Filter> { part() };
        while (TakeWord(word))
            parts.Add(part());
        return parts.Count == 1 ? parts[0] : join(parts);
    }

    private Filter ParseTerm()
    {
        if (++_depth > MaxDepth)
            throw new QueryException($"The query has more than {MaxDepth} conditions within each other. Write it with fewer parentheses.");
        var filter = ParseTermInside();
        _depth--;
        return filter;
    }

    private Filter ParseTermInside()
    {
        if (TakeWord("not"))
            return new NotFilter(ParseTerm());
        if (TakeSign("("))
        {
            var inner = ParseOr();
            if (!TakeSign(")"))
                Fail("a closing parenthesis");
            return inner;
        }

        var path = ParsePath();
        if (TakeWord("starts"))
        {
            Require("with");
            if (Next.Kind != TokenKind.Text)
                Fail("a text in quotes");
            return new ComparisonFilter(path, Comparison.StartsWith, QueryValue.Of(_tokens[_at++].Text));
        }

        return new ComparisonFilter(path, ParseComparison(), ParseValue());
    }

    private JsonPath ParsePath()
    {
        if (Next.Kind != TokenKind.Word)
            Fail("a path such as maintainer.name");
        return JsonPath.Parse(_tokens[_at++].Text);
    }

    private Comparison ParseComparison()
    {
        var comparison = Next.Kind == TokenKind.Sign
            ? Next.Text switch
            {
                "=" => Comparison.Equal,
                "!=" => Comparison.NotEqual,
                "<" => Comparison.Less,
                "<=" => Comparison.AtMost,
                ">" => Comparison.Greater,
                ">=" => Comparison.AtLeast,
                _ => (Comparison?)null,
            }
            : null;
        if (comparison == null)
            Fail("one of = != < <= > >=, or 'starts with'");
        _at++;
        return comparison.Value;
    }

    private QueryValue ParseValue()
    {
        var token = Next;
        _at++;
        if (token.Kind == TokenKind.Text)
            return QueryValue.Of(token.Text);
        if (token.Kind == TokenKind.Word)
        {
            switch (token.Text)
            {
                case "true":
                    return QueryValue.Of(true);
                case "false":
                    return QueryValue.Of(false);
                case "null":
                    return QueryValue.OfNull();
            }

            if (double.TryParse(token.Text, NumberStyles.Float, CultureInfo.InvariantCulture, out var number) && double.IsFinite(number))
                return QueryValue.Of(number);
        }

        _at--;
        Fail("a number, a text in quotes, true, false or null");
        return default;
    }

    private List<Token> Split()
    {
        var tokens = new List<Token>();
        for (var at = 0; ;)
        {
            while (at < _text.Length && char.IsWhiteSpace(_text[at]))
                at++;
            if (at == _text.Length)
            {
                tokens.Add(new Token(TokenKind.End, "", at));
                return tokens;
            }

            tokens.Add(_text[at] switch
            {
                '"' or '\'' => TakeText(ref at),
                '(' or ')' or '=' or '<' or '>' or '!' => TakeSign(ref at),
                _ => TakeWord(ref at),
            });
        }
    }

    private Token TakeText(ref int at)
    {
        var (start, quote) = (at, _text[at]);
        var text = new StringBuilder();
        for (at++; at < _text.Length; at++)
        {
            if (_text[at] == quote)
            {
                at++;
                return new Token(TokenKind.Text, text.ToString(), start);
            }

            if (_text[at] == '\\' && at + 1 < _text.Length)
                at++;
            text.Append(_text[at]);
        }

        throw new QueryException($"The query '{_text}' has a text that begins at character {start + 1} and does not end: its closing {quote} is missing.");
    }

    private Token TakeSign(ref int at)
    {
        var length = _text[at] is '<' or '>' or '!' && at + 1 < _text.Length && _text[at + 1] == '=' ? 2 : 1;
        at += length;
        return new Token(TokenKind.Sign, _text.Substring(at - length, length), at - length);
    }

    private Token TakeWord(ref int at)
    {
        var start = at;
        while (at < _text.Length && !char.IsWhiteSpace(_text[at]) && _text[at] is not ('(' or ')' or '=' or '<' or '>' or '!' or '"' or '\''))
            at++;
        return new Token(TokenKind.Word, _text[start..at], start);
    }

    private bool IsWord(string word) => Next.Kind == TokenKind.Word && Next.Text.Equals(word, StringComparison.OrdinalIgnoreCase);

    private bool TakeWord(string word)
    {
        if (!IsWord(word))
            return false;
        _at++;
        return true;
    }

    private bool TakeSign(string sign)
    {
        if (Next.Kind != TokenKind.Sign || Next.Text != sign)
            return false;
        _at++;
        return true;
    }

    private void Require(string word)
    {
        if (!TakeWord(word))
            Fail($"the word '{word}'");
    }

    [DoesNotReturn]
    private void Fail(string expected)
    {
        var found = Next.Kind == TokenKind.End ? "the query ends" : $"'{Next.Text}' occurs";
        throw new QueryException($"The query '{_text}' cannot be read: {found} at character {Next.At + 1}, where {expected} was expected.");
    }

    private readonly record struct Token(TokenKind Kind, string Text, int At);
}
