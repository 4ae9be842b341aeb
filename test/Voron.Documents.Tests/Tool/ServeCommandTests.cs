using System.Net;
using System.Net.Sockets;
using Voron.Documents.Web;

namespace Voron.Documents.Tests.Tool;

/// <summary>The server listens at the addresses of its option, or says why it does not.</summary>
public sealed class ServeCommandTests : IDisposable
{
    private readonly ToolProcess _tool = new();

    public void Dispose() => _tool.Dispose();

    [Theory]
    [InlineData("http://127.0.0.1:80x", "no http URL")]
    [InlineData("http://127.0.0.1:99999", "no http URL")]
    [InlineData("http://127.0.0.1:5080;junk", "'junk'")]
    [InlineData("127.0.0.1:5081", "no http URL")]
    [InlineData("http://*:5080", "no http URL")]
    [InlineData("https://127.0.0.1:5080", "no https")]
    [InlineData("http://127.0.0.1:5080/base", "nothing else")]
    [InlineData("http://user@127.0.0.1:5080", "nothing else")]
    [InlineData("http://example.com:5080", "neither an IP address nor localhost")]
    [InlineData("http://localhost:0", "needs an IP address")]
    [InlineData("", "no http URL")]
    public void A_url_at_which_it_cannot_listen_is_refused(string url, string reason) =>
        FluentActions.Invoking(() => new ServerOptions { Url = url }).Should().Throw<ArgumentException>().WithMessage($"*{reason}*");

    [Theory]
    [InlineData("http://127.0.0.1:5080", "http://127.0.0.1:5080")]
    [InlineData("HTTP://LOCALHOST:5080/", "http://localhost:5080")]
    [InlineData("http://0.0.0.0:80; http://[::1]:0", "http://0.0.0.0:80;http://[::1]:0")]
    public void A_url_is_taken_as_it_is_meant(string url, string taken) => new ServerOptions { Url = url }.Url.Should().Be(taken);

    [Fact]
    public async Task One_line_says_why_it_cannot_listen()
    {
        using var other = new TcpListener(IPAddress.Loopback, 0);
        other.Start();
        (await _tool.RunAsync("serve", "--urls", $"http://{other.LocalEndpoint}")).ShouldFail("address already in use");
        (await _tool.RunAsync("serve", "--urls", "http://192.0.2.1:5080")).ShouldFail("cannot listen at http://192.0.2.1:5080");
        (await _tool.RunAsync("serve", "--urls", "http://127.0.0.1:80x", "--store", "none")).ShouldFail("no http URL");
        Directory.Exists(_tool.PathOf("none")).Should().BeFalse();
    }
}
